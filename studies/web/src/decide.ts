// The decision record: why this solution, why not the others, which requirements are met; kept in the run folder.
import { concerns, type App, type Part } from "./app";
import { measureList } from "./card";
import { announce, button, h, replace } from "./dom";
import { download } from "./figure";
import { short, visible, withUnit } from "./format";
import { keyOf, splitKey } from "./model";
import { ORIGINAL } from "./types";

interface Kept {
  solution: string;
  why: string;
  notes: string;
  by: string;
  written: string;
  rejected: { solution: string; why: string }[];
}

interface Draft {
  why: string;
  notes: string;
  by: string;
  rejected: Map<string, string>;
}

export function decidePart(app: App): Part {
  const { store } = app;
  const title = h("h2", { tabindex: -1 }, "Decide");
  const content = h("div");
  const root = h("section", { class: "view decide", "aria-label": "Decide" }, title, content);
  const drafts = new Map<string, Draft>(); // what was typed and not kept yet, by solution
  let kept: Kept | null = null;
  let wrong = "";
  let asked = -1;
  let shown = "";

  function others(key: string): string[] {
    const [run] = splitKey(key);
    return [...store.state.shortlist.keys()].filter((other) => other !== key && splitKey(other)[0] === run && app.model.find(other) >= 0);
  }

  function draft(key: string): Draft {
    const known = drafts.get(key);
    if (known !== undefined) return known;
    const [run, id] = splitKey(key);
    const mine = kept?.solution === id ? kept : null;
    const made: Draft = {
      why: mine?.why ?? store.state.shortlist.get(key) ?? "", notes: mine?.notes ?? "", by: mine?.by ?? "",
      rejected: new Map((mine?.rejected ?? []).map((one) => [keyOf(run, one.solution), one.why])),
    };
    drafts.set(key, made);
    return made;
  }

  function requirements(i: number): HTMLElement | string {
    const required = Object.entries(app.model.payload.runs[app.model.run[i]].require);
    if (required.length === 0) return h("p", {}, "The study states no requirement.");
    return h("ul", { class: "met" }, required.map(([name, { min, max }]) => {
      const a = app.model.axes.findIndex((axis) => axis.name === name);
      const value = a < 0 ? NaN : app.model.value(a, i);
      const met = value >= (min ?? -Infinity) && value <= (max ?? Infinity);
      const wanted = [min === undefined ? "" : `at least ${min}`, max === undefined ? "" : `at most ${max}`].filter(Boolean).join(" and ");
      return h("li", {}, `${met ? "✓ met" : "✗ not met"}: ${short(a < 0 ? name : app.model.axes[a].label, 60)} ${wanted}; it is ${withUnit(value, a < 0 ? "" : app.model.axes[a].unit)}`);
    }));
  }

  function box(id: string, label: string, text: string, rows: number, most: number, change: (text: string) => void): HTMLElement {
    const area = h("textarea", { id, rows, maxlength: most, oninput: () => { change(area.value); } });
    area.value = text;
    return h("label", { class: "asked" }, h("span", {}, label), area);
  }

  function build(): void {
    const key = store.state.current;
    const i = app.model.find(key);
    if (key === null || i < 0 || app.model.kind[i] === ORIGINAL) {
      shown = "";
      replace(title, "Decide");
      replace(content, h("p", {}, "Choose the solution that is to be released first, on the map or in the table."),
        button("To the map", () => { store.set({ view: "map" }); }, { class: "primary" }));
      return;
    }
    const [run, id] = splitKey(key);
    const live = app.live;
    if (live !== null && asked !== run) {
      shown = "";
      replace(title, "Decide");
      replace(content, h("p", { class: "muted" }, "Looking for a record …"));
      live.ask(`api/decision?run=${run}`).then(async (answer) => {
        const said = (await answer.json()) as { record: Kept | null; error: string };
        [asked, kept, wrong] = [run, said.record, said.error];
        if (store.state.view === "decide") build();
      }, (error: unknown) => { replace(content, h("p", { class: "notice" }, error instanceof Error ? visible(error.message) : "it could not be read")); });
      return;
    }
    const list = others(key);
    const what = [key, ...list].join("\n");
    if (what === shown) return; // nothing changes under what is being typed
    shown = what;
    const now = draft(key);
    const state = h("p", { class: "muted", role: "status" }, told(id));
    const print = button("Save the page to print", () => {
      void live!.ask(`api/decision/page?run=${run}`).then(async (answer) => { download("decision.html", await answer.blob()); announce("decision.html saved"); },
        (error: unknown) => { replace(state, error instanceof Error ? visible(error.message) : "it could not be made"); });
    }, { disabled: kept?.solution !== id });
    const save = button("Keep the record", () => {
      const rejected = Object.fromEntries(list.map((other) => [splitKey(other)[1], now.rejected.get(other) ?? store.state.shortlist.get(other) ?? ""]));
      live!.ask(`api/decision?run=${run}`, { method: "PUT", body: JSON.stringify({ id, why: now.why, notes: now.notes, by: now.by, rejected }) }).then(
        async (answer) => {
          wrong = "";
          kept = ((await answer.json()) as { record: Kept }).record;
          replace(state, told(id));
          print.disabled = false;
        },
        (error: unknown) => { replace(state, h("span", { class: "notice" }, error instanceof Error ? visible(error.message) : "it could not be kept")); },
      );
    }, { class: "primary" });
    replace(title, `Decide: ${short(app.model.name(i), 80)}`);
    replace(
      content,
      h("p", { class: "hint" }, "The record is kept in the run folder. A release checks it against the run, writes its page beside the file and its SHA-256 into the certificate; releasing another solution then needs a reason."),
      wrong && h("p", { class: "notice" }, visible(wrong)),
      measureList(app, i),
      h("h3", {}, "Requirements"),
      requirements(i),
      box("decide-why", "Why this one", now.why, 4, 2000, (text) => { now.why = text; }),
      h("h3", {}, "What was rejected"),
      list.length === 0
        ? h("p", {}, "Nothing yet: what is on the shortlist beside it is listed here.")
        : list.map((other, n) => {
            const j = app.model.find(other);
            const values = app.model.axes.map((axis, a) => `${short(axis.label, 40)} ${withUnit(app.model.value(a, j), axis.unit)}`).join(" · ");
            return h("div", {}, box(`decide-not-${n}`, `Why not ${short(app.model.name(j), 60)}`, now.rejected.get(other) ?? store.state.shortlist.get(other) ?? "", 1, 2000, (text) => { now.rejected.set(other, text); }), h("p", { class: "muted" }, values));
          }),
      h("h3", {}, "Notes"),
      box("decide-notes", "Anything else to be kept", now.notes, 3, 5000, (text) => { now.notes = text; }),
      box("decide-by", "Decided by", now.by, 1, 200, (text) => { now.by = text; }),
      live === null
        ? h("p", { class: "hint" }, "A report keeps nothing: open the run with sdc explore to keep this record.")
        : live.readOnly ? h("p", { class: "muted" }, "Read only: nothing is kept.") : h("div", { class: "row" }, save, print),
      state,
    );
  }

  function told(id: string): string {
    if (kept === null) return "";
    const when = visible(kept.written).slice(0, 16).replace("T", " ");
    return kept.solution === id ? `Kept, ${when}. “Release & export” releases it.` : `The record that is kept, of ${when}, is for solution ${short(kept.solution, 60)}: keeping this one replaces it.`;
  }

  return {
    root,
    update(changed) {
      if (store.state.view !== "decide") return;
      if (concerns(changed, "view", "current", "data") || concerns(changed, "shortlist")) build();
    },
  };
}
