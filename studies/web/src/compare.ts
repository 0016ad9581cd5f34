// Two to four solutions side by side, their differences marked.
import { concerns, type App, type Part } from "./app";
import { button, checkbox, h, replace, type Child } from "./dom";
import { capital, num, short, visible, withUnit } from "./format";
import { picturesOf } from "./pictures";
import type { Detail, Picture } from "./types";

const MISSING = "–";

/** Whether values differ; one that is missing differs from none. */
export function unlike(values: readonly unknown[]): boolean {
  return new Set(values).size > 1;
}

interface Row {
  label: string;
  cells: { text: string; best: boolean }[];
  differs: boolean;
}

/** Rows of a table from the pictures of several solutions, as their types put it. */
export function pictureRows(solutions: Picture[][]): [string, string[]][] {
  const rows = new Map<string, string[]>();
  solutions.forEach((pictures, p) => {
    for (const [label, text] of pictures.flatMap((picture) => picture.rows)) {
      const cells = rows.get(label) ?? solutions.map(() => MISSING);
      cells[p] = text;
      rows.set(label, cells);
    }
  });
  return [...rows];
}

export function comparePart(app: App): Part {
  const { store } = app;
  let onlyDifferences = false;
  // What may hold the focus stays in place while the rest is drawn anew.
  const bar = h("div", { class: "row" }, button("Back to the map", () => { store.set({ view: "map" }); }, { class: "quiet" }),
    checkbox("differences only", onlyDifferences, (on) => { onlyDifferences = on; build(); }));
  const content = h("div");
  const root = h("section", { class: "view compare", "aria-label": "Compare" }, h("h2", { tabindex: -1 }, "Side by side"), bar, content);
  let asked = "";

  function table(caption: string, rows: Row[], names: string[]): Child {
    const kept = onlyDifferences ? rows.filter((row) => row.differs) : rows;
    if (rows.length === 0) return null;
    return h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h(
        "table",
        { class: "compared" },
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, h("td", {}), names.map((name) => h("th", { scope: "col" }, name)))),
        h(
          "tbody",
          {},
          kept.map((row) =>
            h(
              "tr",
              { class: row.differs ? "differs" : null },
              h("th", { scope: "row" }, row.differs && h("span", { class: "unlike", title: "different" }, "≠ "), short(row.label, 60)),
              row.cells.map((cell) => h("td", {}, cell.text, cell.best && h("strong", { class: "best" }, " best"))),
            ),
          ),
          kept.length === 0 && h("tr", {}, h("td", { colspan: names.length + 1, class: "muted" }, "no differences")),
        ),
      ),
    );
  }

  function plainRow(label: string, cells: string[]): Row {
    return { label, cells: cells.map((text) => ({ text: short(text, 200), best: false })), differs: unlike(cells.filter((text) => text !== MISSING)) };
  }

  function render(points: number[], details: (Detail | null)[], briefs: string[][]): void {
    const { model } = app;
    const names = points.map((i) => capital(short(model.name(i), 40)));
    const measures: Row[] = model.axes.map((axis, a) => {
      const values = points.map((i) => model.value(a, i));
      const known = values.filter((value) => Number.isFinite(value));
      const best = axis.sense === "min" ? Math.min(...known) : Math.max(...known);
      const differs = unlike(known);
      return {
        label: `${axis.label} (${axis.sense === "min" ? "smaller" : "larger"} is better)`,
        cells: values.map((value, at) => ({
          text: withUnit(value, axis.unit) + (at > 0 && differs && Number.isFinite(value - values[0]) && value !== values[0] ? ` (${value > values[0] ? "+" : "−"}${num(Math.abs(value - values[0]))})` : ""),
          best: differs && value === best,
        })),
        differs,
      };
    });
    const facts = [...new Set(details.flatMap((d) => d?.facts.map((f) => f.label) ?? []))].map((label) =>
      plainRow(label, details.map((d) => {
        const fact = d?.facts.find((f) => f.label === label);
        return fact ? withUnit(fact.value, fact.unit) : MISSING;
      })),
    );
    const attributes = model.payload.runs[model.run[points[0]]].attributes;
    const sameRun = points.every((i) => model.run[i] === model.run[points[0]]);
    const changed = sameRun
      ? attributes.map((attribute, a) => plainRow(attribute.name, details.map((d) => {
        const share = d?.after[a]?.changed;
        return share === null || share === undefined ? MISSING : `${num(share)} %`;
      })))
      : [];
    const sentences = details.map((d, at) => d?.sentences ?? briefs[at]);
    const shared = (text: string): boolean => sentences.every((list) => list.length === 0 || list.includes(text));
    replace(
      content,
      table("Measures", measures, names),
      table("What they do", pictureRows(details.map((d) => d?.pictures ?? [])).map(([label, cells]) => plainRow(label, cells)), names),
      table("In the released table", facts, names),
      table("Changed cells", changed, names),
      h(
        "div",
        { class: "columns" },
        points.map((i, at) =>
          h(
            "article",
            {},
            h("h3", {}, names[at]),
            store.state.shortlist.get(model.keys[i]) && h("p", { class: "note" }, visible(store.state.shortlist.get(model.keys[i]) ?? "")),
            h("div", { class: "sentences" }, sentences[at].map((text) => h("p", { class: shared(text) ? "muted" : "differs" }, short(text, 600)))),
            !app.details.has(model.keys[i]) && h("p", { class: "muted" }, "This report holds no pictures of it."),
            picturesOf(app, (details[at]?.pictures ?? []).slice(0, 1), model.axes.map((_, a) => model.value(a, i))).slice(0, 1),
            button("Open", () => { store.set({ current: model.keys[i], view: "solution" }); }, { "aria-label": `Open ${names[at]}` }),
          ),
        ),
      ),
    );
  }

  function build(): void {
    const points = store.state.compare.map((key) => app.model.find(key)).filter((i) => i >= 0);
    bar.hidden = points.length < 2;
    if (points.length < 2) {
      replace(content, h("p", {}, "Tick two to four solutions of the shortlist to compare them."),
        button("To the map", () => { store.set({ view: "map" }); }, { class: "primary" }));
      return;
    }
    const keys = points.map((i) => app.model.keys[i]);
    const mine = keys.join("\n");
    asked = mine;
    void Promise.all(keys.map(async (key) => {
      const detail = await app.details.get(key);
      return [detail, detail === null ? await app.details.brief(key) : []] as const;
    })).then((told) => { if (asked === mine) render(points, told.map(([detail]) => detail), told.map(([, brief]) => brief)); });
  }

  return {
    root,
    update(changed) {
      if (store.state.view === "compare" && concerns(changed, "view", "compare", "data")) build();
    },
  };
}
