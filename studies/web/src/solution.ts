// One solution: what it does in sentences, its task's pictures, every measure, each attribute before and after.
import { concerns, type App, type Part } from "./app";
import { button, h, replace, refocus } from "./dom";
import { distribution } from "./distributions";
import { exposureSection } from "./exposure";
import { capital, short, visible, withUnit } from "./format";
import { shortlistButton } from "./card";
import { commands, repeatRun } from "./home";
import { picturesOf } from "./pictures";
import { walkSection } from "./walk";
import { ORIGINAL, type Detail } from "./types";

export function solutionPart(app: App): Part {
  const { store } = app;
  // The title stays in place: it holds the focus from the moment the view opens, before anything is known about it.
  const beside = h("div");
  const title = h("h2", { tabindex: -1 });
  const content = h("div");
  const root = h("section", { class: "view solution", "aria-label": "Solution" }, beside, title, content);
  let shownFor: string | null = null;

  function neighbours(i: number): HTMLElement {
    const front: number[] = [];
    for (let j = 0; j < app.model.n; j++) if (app.seen[j] && app.model.kind[j] === 2) front.push(j);
    const axis = store.state.x;
    front.sort((a, b) => app.model.value(axis, a) - app.model.value(axis, b) || a - b);
    const at = front.indexOf(i);
    const go = (to: number): void => { store.set({ current: app.model.keys[front[to]] }); };
    return h(
      "div",
      { class: "row" },
      button("Back to the map", () => { store.set({ view: "map" }); }, { class: "quiet" }),
      button("← Along the front", () => { go(at < 0 ? 0 : at - 1); }, { class: "quiet", disabled: front.length === 0 || at === 0 }),
      button("Along the front →", () => { go(at < 0 ? 0 : at + 1); }, { class: "quiet", disabled: front.length === 0 || at === front.length - 1 }),
      app.model.kind[i] !== ORIGINAL && shortlistButton(app, app.model.keys[i]),
    );
  }

  function measures(i: number): HTMLElement {
    const { model } = app;
    return h(
      "table",
      { class: "measured" },
      h("caption", {}, "Measures"),
      h("thead", {}, h("tr", {}, ["Measure", "Value", "Better", "Where it stands", "What it says"].map((text) => h("th", { scope: "col" }, text)))),
      h(
        "tbody",
        {},
        model.axes.map((axis, a) => {
          const value = model.value(a, i);
          const [low, high] = model.extents[a];
          const at = high > low ? (value - low) / (high - low) : 0.5;
          const meter = h("span", { class: "meter", role: "img", "aria-label": `between the smallest, ${withUnit(low, axis.unit)}, and the largest found, ${withUnit(high, axis.unit)}` });
          const pin = h("i", {});
          pin.style.left = `${Math.max(0, Math.min(100, at * 100))}%`;
          meter.append(pin);
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, short(axis.label, 60)),
            h("td", { class: "number" }, withUnit(value, axis.unit)),
            h("td", {}, axis.sense === "min" ? "← smaller" : "larger →"),
            h("td", {}, meter),
            h("td", {}, axis.sentence),
          );
        }),
      ),
    );
  }

  function render(i: number, detail: Detail | null, brief: string[] = []): void {
    const { model } = app;
    const run = model.payload.runs[model.run[i]];
    const values = model.axes.map((_, a) => (Number.isNaN(model.value(a, i)) ? null : model.value(a, i)));
    const attributes = run.attributes;
    const lines = detail?.sentences ?? brief;
    replace(beside, neighbours(i));
    replace(title, capital(short(model.name(i), 90)));
    const walk = app.live !== null && detail?.pictures.some((picture) => picture.type === "lattice") ? walkSection(app, model.keys[i]) : null;
    replace(
      content,
      h("p", { class: "muted" }, `${model.kindName(i)} · ${short(model.runName(model.run[i]), 80)}${model.usable[i] ? "" : " · does not meet the requirements"}`),
      h(
        "div",
        { class: "told" },
        lines.length > 0 && h("div", { class: "sentences lead" }, lines.map((text) => h("p", {}, visible(text).slice(0, 2000)))),
        detail !== null && detail.facts.length > 0 &&
          h(
            "dl",
            { class: "facts" },
            detail.facts.map((fact) =>
              h("div", {}, h("dt", {}, fact.label), h("dd", {}, h("strong", {}, withUnit(fact.value, fact.unit)), " ", h("span", { class: "muted" }, fact.sentence))),
            ),
          ),
      ),
      model.kind[i] === ORIGINAL && h("p", { class: "sentences lead" }, "The table as it is: nothing is protected, nothing is lost."),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Measures" }, measures(i)),
      detail?.closed && h("p", { class: "notice" }, visible(detail.closed)),
      detail === null && model.kind[i] !== ORIGINAL &&
        h("p", { class: "notice" }, "This report holds pictures for a choice of solutions only, and this one is not among them. Make it with --solution to include it, or open the run with sdc explore."),
      detail !== null && detail.pictures.length > 0 && h("div", { class: "figures" }, picturesOf(app, detail.pictures, values, walk?.step)),
      walk !== null && walk.root,
      detail?.exposure && exposureSection(detail.exposure),
      attributes.length > 0 && [
        h("h3", {}, detail !== null && detail.after.length > 0 ? "Each attribute, before and after" : "Each attribute in the original table"),
        h(
          "p",
          { class: "hint" },
          h("span", { class: "key before" }),
          "original ",
          detail !== null && detail.after.length > 0 && [h("span", { class: "key after" }), "released. "],
          "Every bar stands for at least five records; what is rarer is counted together or left out. Where records are suppressed, the released ones are counted in fives.",
        ),
        h("div", { class: "grid" }, attributes.map((attribute, a) => distribution(attribute, detail?.after[a] ?? null))),
      ],
      model.kind[i] !== ORIGINAL && h("div", {}, h("h3", {}, "Release & export"), commands(app, model.keys[i]), repeatRun(app, model.run[i])),
    );
  }

  function build(): void {
    const i = app.model.find(store.state.current);
    if (i < 0) {
      shownFor = null;
      replace(beside);
      replace(title, "No solution chosen");
      replace(content, h("p", {}, "Choose a point on the map or in the table first."),
        button("To the map", () => { store.set({ view: "map" }); }, { class: "primary" }));
      return;
    }
    const key = app.model.keys[i];
    shownFor = key;
    if (app.model.kind[i] === ORIGINAL) {
      render(i, null);
      return;
    }
    void app.details.get(key).then(async (detail) => [detail, detail === null ? await app.details.brief(key) : []] as const).then(([detail, brief]) => {
      if (shownFor === key) {
        const had = root.contains(document.activeElement) ? (document.activeElement?.textContent ?? "") : null;
        render(i, detail, brief);
        if (had !== null) refocus([...root.querySelectorAll("button")].find((one) => one.textContent === had));
      }
    });
  }

  return {
    root,
    update(changed) {
      if (store.state.view === "solution" && concerns(changed, "view", "current", "shortlist", "data")) build();
    },
  };
}
