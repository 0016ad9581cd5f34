// Second part of the start page: role, kind and hierarchy of each column, as they propose themselves, to be corrected.
import { h, replace } from "./dom";
import { count, short } from "./format";

interface Column { name: string; kind: string; values: number; role: string; reason: string; hierarchy: string }
export interface Scan {
  path: string; name: string; records: number; columns: Column[]; combinations: { columns: string[]; singled_out: number }[];
  reading: Record<string, string> | null; run: string; handed: boolean; searches: { name: string; title: string; k: boolean }[];
}

type Hierarchy = Record<string, unknown>;
const ROLES: [string, string][] = [["quasi-identifier", "others may know it"], ["sensitive", "a secret"], ["identifier", "names the person: left out"], ["other", "leaves as it is"]];
const KINDS = ["numeric", "ordinal", "nominal"];
const numberOr = (text: string): string | number => (Number.isNaN(Number(text)) ? text : Number(text));
const listed = (text: string): string[] => text.split(",").map((part) => part.trim()).filter((part) => part !== "");
/** Ways to coarsen a column, by their name in a study file: what each is called, what its value looks like, and what a study says. */
const WAYS: Record<string, { called: string; like: string; said: (value: string) => unknown }> = {
  "": { called: "as suggested", like: "", said: () => null },
  intervals: { called: "bands as wide as", like: "5, 10, 20", said: (value) => listed(value).map(numberOr) },
  masking: { called: "hide so many end characters", like: "3", said: (value) => numberOr(value) },
  file: { called: "a hierarchy file (ARX)", like: "age.csv", said: (value) => value.trim() },
  suppression: { called: "all or nothing", like: "", said: () => true },
};

export interface Roles {
  root: HTMLElement;
  show(scan: Scan): void;
  /** What the server is told of the file and its columns. */
  said(): Record<string, unknown>;
}

export function rolesPart(): Roles {
  const root = h("div");
  let scan: Scan | null = null;
  let rows: { column: Column; role: HTMLSelectElement; kind: HTMLSelectElement; way: HTMLSelectElement; value: HTMLInputElement }[] = [];

  function row(column: Column): HTMLElement {
    const name = short(column.name, 60);
    const role = h("select", { "aria-label": `Role of ${name}`, onchange: () => { arrange(); } }, ROLES.map(([value, said]) => h("option", { value }, `${value === "other" ? "no role" : value}: ${said}`)));
    const kind = h("select", { "aria-label": `Kind of ${name}`, onchange: () => { arrange(); } }, KINDS.map((value) => h("option", { value }, value)));
    const way = h("select", { "aria-label": `Hierarchy of ${name}`, onchange: () => { arrange(); } }, Object.entries(WAYS).map(([value, one]) => h("option", { value }, one.called)));
    const value = h("input", { type: "text", "aria-label": `Its value for ${name}`, autocomplete: "off", spellcheck: "false" });
    const hint = h("p", { class: "hint" });
    [role.value, kind.value] = [column.role, column.kind];
    rows.push({ column, role, kind, way, value });

    function arrange(): void {
      const coarsened = role.value === "quasi-identifier";
      for (const part of [way, hint]) part.hidden = !coarsened;
      value.placeholder = WAYS[way.value].like;
      value.hidden = !coarsened || value.placeholder === "";
      replace(hint, way.value !== "" ? "" : kind.value === column.kind && column.hierarchy ? short(column.hierarchy, 160) : "made from its values");
    }

    arrange();
    return h("tr", {},
      h("th", { scope: "row" }, short(column.name, 40), h("p", { class: "hint" }, `${count(column.values)} values`)),
      h("td", {}, role, h("p", { class: "hint" }, short(column.reason, 160))),
      h("td", {}, kind),
      h("td", {}, way, " ", value, hint));
  }

  return {
    root,
    show(found) {
      scan = found;
      rows = [];
      replace(root,
        h("p", {}, `${short(found.name, 80)}: ${count(found.records)} records. Each column proposes a role; correct what is wrong.`),
        found.combinations.map((one) => h("p", { class: "hint" }, `${one.columns.map((name) => short(name, 30)).join(" + ")}: ${count(one.singled_out)} records or a few more are the only ones with their values.`)),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" }, h("table", { class: "roles" },
          h("thead", {}, h("tr", {}, ["Column", "Role", "Kind", "Coarsened by"].map((text) => h("th", { scope: "col" }, text)))),
          h("tbody", {}, found.columns.map(row)))));
    },
    said() {
      const hierarchies: Record<string, Hierarchy> = {};
      for (const { column, role, way, value } of rows) {
        if (role.value === "quasi-identifier" && way.value !== "") hierarchies[column.name] = { [way.value]: WAYS[way.value].said(value.value) };
      }
      return {
        path: scan?.path,
        ...(scan?.reading === null || scan === null ? {} : { reading: scan.reading }),
        roles: Object.fromEntries(rows.map(({ column, role }) => [column.name, role.value])),
        kinds: Object.fromEntries(rows.filter(({ column, kind }) => kind.value !== column.kind).map(({ column, kind }) => [column.name, kind.value])),
        hierarchies,
      };
    },
  };
}
