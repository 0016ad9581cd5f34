// The guided choice: say what you need, get three candidates, and what the next step would cost.
import { concerns, FILTERS, type App, type Part } from "./app";
import { amount, asked, called, candidates, limit, limited, nearest, price, roles, worthless, type Candidate } from "./choice";
import { announce, button, h, replace } from "./dom";
import { num, short, visible } from "./format";
import { BASELINE, FRONT, ORIGINAL } from "./types";

const WHY: Record<Candidate["name"], string> = {
  Safest: "Of all that meet this it protects most.",
  Balanced: "The knee: beyond it more protection begins to cost much more.",
  "Most useful": "Of all that meet this it loses least.",
  Best: "The best of all that meet this.",
};

export function guidePart(app: App): Part {
  const { store } = app;
  const form = h("div", { class: "row asks", role: "group", "aria-label": "What you need" });
  const answer = h("div", { class: "answer" });
  const root = h("section", { class: "guide", "aria-labelledby": "guide-title" }, h("h3", { id: "guide-title" }, "What do you need?"), form, answer);
  let fields: HTMLInputElement[] = [];
  const clear = button("Clear", () => {
    store.set({ ranges: app.model.axes.map(() => null) });
    fields[0]?.focus();
  }, { class: "quiet" });

  function build(): void {
    const { axes } = app.model;
    const [safety, use] = roles(axes);
    const order = [...new Set([safety, use, ...axes.keys()])].filter((a) => a >= 0);
    fields = [];
    replace(
      form,
      order.map((a) => {
        const axis = axes[a];
        const field = h("input", {
          type: "number", step: "any", inputmode: "decimal", id: `need-${a}`, "data-axis": a, title: short(axis.sentence, 300),
          onchange: () => { typed(a, field); },
          onkeydown: (event: KeyboardEvent) => {
            if (event.key !== "Enter") return;
            typed(a, field);
            requestAnimationFrame(() => requestAnimationFrame(() => { root.querySelector<HTMLElement>(".candidate button")?.focus(); }));
          },
        });
        fields.push(field);
        return h("label", { class: "field" }, h("span", {}, `${short(called(axis), 40)} ${asked(axis)}`), field, axis.unit && h("span", { class: "muted" }, short(axis.unit, 12)));
      }),
      clear,
    );
    show();
  }

  function typed(a: number, field: HTMLInputElement): void {
    const axis = app.model.axes[a];
    const value = field.value.trim() === "" || !Number.isFinite(Number(field.value)) ? null : Number(field.value);
    if (value !== limited(axis, store.state.ranges[a])) store.setRange(a, limit(axis, value));
  }

  function show(): void {
    for (const field of fields) {
      const a = Number(field.dataset.axis);
      const value = limited(app.model.axes[a], store.state.ranges[a]);
      if (document.activeElement !== field || value === null) field.value = value === null ? "" : String(Number(value.toPrecision(6)));
    }
    clear.hidden = store.state.ranges.every((range) => range === null);
    const { model } = app;
    const pair = roles(model.axes);
    const all: number[] = [];
    const original = model.kind.indexOf(ORIGINAL);
    // A table that is in every objective as the original protects nobody, whatever it is called.
    const untouched = (i: number): boolean => original >= 0 && model.axes.every((_, a) => model.value(a, i) === model.value(a, original));
    const sound = (i: number): boolean => !untouched(i) && pair.every((a) => a < 0 || !worthless(model.axes[a], model.value(a, i)));
    for (let i = 0; i < model.n; i++) {
      if (app.seen[i] && (model.kind[i] === FRONT || model.kind[i] === BASELINE) && model.usable[i] && sound(i)) all.push(i);
    }
    const within = all.filter((i) => app.selected[i]);
    const found = candidates(model.values, model.axes, pair, within);
    if (found.length > 0) {
      cards(found, pair, within.length);
      return;
    }
    if (all.length === 0) {
      replace(answer, h("p", { class: "muted" }, model.n > 1 ? "No solution that is shown protects anybody, leaves something of the data and meets the requirements." : "No solution has been found yet."));
      return;
    }
    replace(answer, h("p", {}, "No solution meets all of this."), nearest(model.values, model.axes, store.state.ranges, all).map((line) => h("p", { class: "hint" }, visible(line))));
  }

  function cards(found: readonly Candidate[], pair: [number, number], many: number): void {
    const { model } = app;
    const at = answer.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.at : undefined;
    const shown = [...new Set(pair)].filter((a) => a >= 0);
    const list = h("div", { class: "candidates", role: "group", "aria-label": "Candidates" }, found.map((one, n) => {
      const key = model.keys[one.point];
      const here = store.state.current === key;
      const pick = button(one.name, () => {
        store.set({ current: key });
        announce(`${one.name}: ${model.name(one.point)} chosen`);
      }, { class: "pick", "data-at": n, "aria-pressed": here ? "true" : "false" });
      return h(
        "div",
        { class: here ? "candidate here" : "candidate" },
        pick,
        h("p", {}, shown.map((a) => `${called(model.axes[a])} ${amount(model.value(a, one.point), model.axes[a])}`).join(" · ")),
        h("p", { class: "hint" }, WHY[one.name]),
        [one.safer, one.freer].map((step) => step && h("p", { class: "price" }, h("span", { class: "muted" }, step === one.safer ? "A step safer: " : "A step more useful: "), visible(price(step, model.axes, pair)))),
      );
    }));
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const buttons = [...list.querySelectorAll<HTMLElement>(".pick")];
      const now = buttons.indexOf(event.target as HTMLElement);
      if (step === undefined || now < 0) return;
      event.preventDefault();
      buttons[(now + step + buttons.length) % buttons.length].focus();
    });
    const any = store.state.ranges.some((range) => range !== null);
    replace(answer, h("p", { class: "muted" }, any ? `${num(many)} of the best solutions meet this.` : "Type what you need, or take one of these."), list);
    if (at !== undefined) list.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus();
  }

  return {
    root,
    update(changed) {
      if (concerns(changed, "data") && fields.length !== app.model.axes.length) build();
      else if (concerns(changed, "current", ...FILTERS)) show();
      if (changed.has("ranges") && store.state.view === "map") announce(answer.querySelector("p")?.textContent ?? "");
    },
  };
}
