// The selected points as a table: sorted by any column, linked with the map both ways.
import { FILTERS, concerns, type App, type Part } from "./app";
import { announce, button, checkbox, h, replace, refocus } from "./dom";
import { count, num, short } from "./format";
import { ordered } from "./model";
import { ORIGINAL, OWN_FRONT } from "./types";

const PAGE = window.innerWidth <= 560 ? 20 : 50;

export function tablePart(app: App): Part {
  const { store } = app;
  let shown = PAGE;
  let everything = false;
  const head = h("tr", {});
  const body = h("tbody", {});
  const foot = h("p", { class: "muted" });
  const tools = h("div", { class: "row" });
  const rows = new Map<number, HTMLTableRowElement>();
  const heading = h("h3", { id: "table-title" }, "Solutions");
  const root = h(
    "div",
    { class: "solutions" },
    heading,
    tools,
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "table-title" },
      h("table", {}, h("thead", {}, head), body),
    ),
    foot,
  );

  function columns(): { name: string; label: string; numeric: boolean }[] {
    return [
      { name: "id", label: "Solution", numeric: false },
      { name: "kind", label: "Type", numeric: false },
      ...(app.model.payload.runs.length > 1 ? [{ name: "run", label: "Run", numeric: false }] : []),
      ...app.model.axes.map((axis) => ({ name: axis.name, label: axis.unit ? `${axis.label} [${axis.unit}]` : axis.label, numeric: true })),
      { name: "generation", label: "Generation", numeric: true },
    ];
  }

  function sortBy(name: string): void {
    const { sort, descending } = store.state;
    const axis = app.model.axes.find((a) => a.name === name);
    const down = sort === name ? !descending : axis?.sense === "max";
    store.set({ sort: name, descending: down });
    announce(`sorted by ${name}, ${down ? "largest" : "smallest"} first`);
  }

  function buildHead(): void {
    const { sort, descending } = store.state;
    const focused = head.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.column : undefined;
    replace(
      head,
      h("th", { scope: "col", class: "star" }, h("span", { class: "unseen" }, "On the shortlist")),
      columns().map(({ name, label, numeric }) => {
        const axis = app.model.axes.find((a) => a.name === name);
        const active = sort === name;
        const arrow = active ? (descending ? " ▾" : " ▴") : "";
        return h(
          "th",
          { scope: "col", class: `${numeric ? "number " : ""}${["kind", "generation"].includes(name) ? name : ""}`, "aria-sort": active ? (descending ? "descending" : "ascending") : null },
          button(`${short(label, 50)}${arrow}`, () => { sortBy(name); }, { class: "sort", "data-column": name }),
          axis && h("span", { class: "way" }, axis.sense === "min" ? "smaller is better" : "larger is better"),
        );
      }),
    );
    if (focused !== undefined) refocus(head.querySelector<HTMLElement>(`[data-column="${CSS.escape(focused)}"]`));
  }

  function listed(): number[] {
    const found: number[] = [];
    for (let i = 0; i < app.model.n; i++) {
      if (app.selected[i] && (everything || app.model.kind[i] > OWN_FRONT)) found.push(i);
    }
    return ordered(app.model, found, store.state.sort, store.state.descending);
  }

  function row(i: number): HTMLTableRowElement {
    const { model } = app;
    const { points, runs } = model.payload;
    const key = model.keys[i];
    const on = store.shortlisted(key);
    const name = model.kind[i] === ORIGINAL ? "original" : points.id[i].replace(/^baseline-/, "");
    const star = button(on ? "★" : "☆", () => { store.toggleShortlist(key); }, {
      class: "star", "aria-pressed": on ? "true" : "false", "aria-label": `Shortlist ${short(model.name(i), 80)}`, "data-star": key,
    });
    const line = h(
      "tr",
      { "data-i": i, "aria-current": store.state.current === key ? "true" : null },
      h("td", { class: "star" }, model.kind[i] !== ORIGINAL && star),
      h("th", { scope: "row" }, button(short(name, 32), () => { store.set({ current: key }); }, { class: "link", "data-key": key }),
        model.kind[i] !== ORIGINAL && h("span", { class: "small muted" }, ` ${model.kindName(i)}`)),
      h("td", { class: "kind" }, model.kindName(i), model.kind[i] !== ORIGINAL && !app.details.has(key) && h("span", { class: "muted unpictured", title: "this report holds no pictures of it" }, " · no pictures")),
      runs.length > 1 && h("td", {}, short(model.runName(model.run[i]), 24)),
      model.axes.map((_, a) => h("td", { class: "number" }, num(model.value(a, i)))),
      h("td", { class: "number generation" }, points.generation[i] >= 0 ? points.generation[i] : "–"),
    );
    return line;
  }

  function buildBody(): void {
    const all = listed();
    const visible = all.slice(0, shown);
    const inHand = app.model.find(store.state.current);
    if (inHand >= 0 && !visible.includes(inHand)) visible.unshift(inHand); // chosen on the map, off the list
    const active = document.activeElement as HTMLElement | null;
    const focus = body.contains(active) ? (active?.dataset.key ?? active?.dataset.star) : undefined;
    const starred = active?.dataset.star !== undefined;
    rows.clear();
    const built = visible.map((i) => {
      const line = row(i);
      rows.set(i, line);
      return line;
    });
    body.replaceChildren(...built);
    replace(
      foot,
      `${count(Math.min(shown, all.length))} of ${count(all.length)} shown. `,
      all.length > shown && button(`Show ${Math.min(PAGE * 2, all.length - shown)} more`, () => { shown += PAGE * 2; buildBody(); }, { class: "quiet" }),
    );
    if (focus !== undefined) {
      refocus(body.querySelector<HTMLElement>(`[data-${starred ? "star" : "key"}="${CSS.escape(focus)}"]`));
    }
    highlight(store.hover);
  }

  function buildTools(): void {
    let others = 0;
    for (let i = 0; i < app.model.n; i++) if (app.model.kind[i] <= OWN_FRONT) others += 1;
    replace(tools, checkbox(`with the ${count(others)} points off the front`, everything, (on) => {
      everything = on;
      shown = PAGE;
      buildBody();
    }));
  }

  let marked: HTMLTableRowElement | undefined;
  function highlight(i: number): void {
    marked?.classList.remove("hover");
    marked = rows.get(i);
    marked?.classList.add("hover");
  }

  body.addEventListener("pointerover", (event) => {
    const line = (event.target as Element).closest<HTMLElement>("tr");
    if (line?.dataset.i !== undefined && event.pointerType !== "touch") store.setHover(Number(line.dataset.i));
  });
  body.addEventListener("pointerleave", () => { store.setHover(-1); });
  body.addEventListener("focusin", (event) => {
    const line = (event.target as Element).closest<HTMLElement>("tr");
    if (line?.dataset.i !== undefined) store.setHover(Number(line.dataset.i));
  });
  store.onHover(highlight);

  return {
    root,
    update(changed) {
      if (store.state.view !== "map") return;
      if (concerns(changed, "sort", "descending", "data", "view")) buildHead();
      if (concerns(changed, "data")) buildTools();
      if (concerns(changed, "data", "view", "sort", "descending", "shortlist", "current")) buildBody();
      else if (concerns(changed, ...FILTERS)) {
        shown = PAGE;
        buildBody();
      }
    },
  };
}

