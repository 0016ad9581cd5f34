// What will my users lose? Two columns that the steward picks, crossed in the original and in the compared solutions.
import { concerns, type App, type Part } from "./app";
import { button, h, replace, s, select } from "./dom";
import { count, num, short, visible } from "./format";
import { splitKey } from "./model";
import { seriesColour } from "./theme";

interface Crossed { name: string; counts: (number | null)[][] | null; association: number | null; slope: number | null; correlation: number | null }
interface Use { across: string; down: string; rows: string[]; columns: string[]; tables: Crossed[] }

export function usePart(app: App): Part {
  const { store } = app;
  const root = h("section", { class: "use", "aria-label": "What will my users lose?" });
  let [across, down, shown] = [-1, -1, ""];

  function build(): void {
    const first = store.state.compare.at(0);
    const live = app.live;
    root.hidden = live === null || first === undefined;
    const what = store.state.compare.join("\n");
    if (live === null || first === undefined || what === shown) return;
    shown = what;
    const [run] = splitKey(first);
    const ids = store.state.compare.filter((key) => splitKey(key)[0] === run).map((key) => splitKey(key)[1]);
    const names = app.model.payload.runs[run].attributes.map((attribute) => attribute.name);
    if (names.length < 2) {
      root.hidden = true;
      return;
    }
    if (across < 0 || across >= names.length) across = 0;
    if (down < 0 || down >= names.length) down = 1;
    const options = names.map((name, i) => ({ value: String(i), text: short(name, 40) }));
    const answer = h("div", { role: "status" });
    const show = (): void => {
      const query = new URLSearchParams([["run", String(run)], ...ids.map((id) => ["id", id]), ["across", names[across]], ["down", names[down]]]);
      replace(answer, h("p", { class: "muted" }, "Counting …"));
      live.ask(`api/use?${query.toString()}`).then(async (found) => { replace(answer, table((await found.json()) as Use)); },
        (error: unknown) => { replace(answer, h("p", { class: "notice" }, error instanceof Error ? visible(error.message) : "it could not be counted")); });
    };
    replace(root, h("h3", {}, "What will my users lose?"),
      h("p", { class: "hint" }, "Pick two columns that are often looked at together: counted in the original and in each solution, in fives."),
      h("div", { class: "row" }, select("Rows", options, String(across), (v) => { across = Number(v); }), select("Columns", options, String(down), (v) => { down = Number(v); }), button("Show", show)),
      answer);
  }

  function table(use: Use): HTMLElement {
    const colour = (i: number): string => (i === 0 ? "var(--worse)" : seriesColour(i - 1));
    const name = (one: Crossed, i: number): string => (i === 0 ? "original" : `solution ${short(one.name, 30)}`);
    const most = Math.max(1, ...use.tables.flatMap((one) => (one.counts ?? []).flat().map((c) => c ?? 0)));
    const cell = (r: number, c: number): HTMLElement => h("td", {}, use.tables.map((one, i) => {
      const value = one.counts === null ? null : one.counts[r][c];
      const text = one.counts === null ? "–" : value === null ? "< 5" : count(value);
      return h("div", { class: "crossed" }, s("svg", { width: 60, height: 8, viewBox: "0 0 60 8", "aria-hidden": "true" }, s("rect", { x: 0, y: 0, height: 8, width: (60 * (value ?? 0)) / most, fill: colour(i) })), h("span", { class: "unseen" }, `${name(one, i)}: `), text);
    }));
    const both = use.tables[0].slope !== null;
    return h("div", {},
      h("ul", { class: "legend" }, use.tables.map((one, i) => h("li", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" }, s("rect", { width: 12, height: 12, fill: colour(i) })), name(one, i),
        one.association !== null && h("span", { class: "muted" }, ` association ${num(one.association)}`),
        both && h("span", { class: "muted" }, one.slope === null ? ", no line" : `, ${short(use.down, 20)} rises by ${num(one.slope)} per unit, correlation ${num(one.correlation)}`)))),
      h("p", { class: "hint" }, "Association: Cramér’s V, 0 where one column tells nothing of the other, 1 where it tells all."),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Cross-table" }, h("table", {},
        h("caption", {}, `${short(use.across, 40)} by ${short(use.down, 40)}, records`),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, short(use.across, 40)), use.columns.map((text) => h("th", { scope: "col" }, short(text, 24))))),
        h("tbody", {}, use.rows.map((text, r) => h("tr", {}, h("th", { scope: "row" }, short(text, 30)), use.columns.map((_, c) => cell(r, c))))))));
  }

  return {
    root,
    update(changed) {
      if (store.state.view === "compare" && concerns(changed, "view", "compare", "data")) build();
    },
  };
}
