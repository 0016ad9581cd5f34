// Who could still be found: three intruders, how many look alike, and the columns that single people out.
import { distribution } from "./distributions";
import { h, s } from "./dom";
import { count, num, short, visible } from "./format";
import type { Exposure } from "./types";

function pair(before: number | null, after: number | null): HTMLElement {
  const bar = (percent: number | null, kind: "before" | "after"): HTMLElement | null => percent === null ? null : h("span", { class: "risked" },
    s("svg", { class: "risk", width: 70, height: 8, viewBox: "0 0 70 8", "aria-hidden": "true" },
      s("rect", { class: kind, x: 0, y: 0, height: 8, width: Math.max(1, 0.7 * percent) })),
    h("span", { class: "unseen" }, `${kind}: `), `${num(Number(percent.toPrecision(3)))} %`);
  return before === null ? h("span", { class: "muted" }, "–") : h("div", {}, bar(before, "before"), bar(after, "after"));
}

function many(records: number | null): string {
  return records === null ? "fewer than 5" : count(records);
}

export function exposureSection(found: Exposure): HTMLElement {
  const [before, after] = found.sizes;
  return h(
    "section",
    { class: "exposure", "aria-label": "Who could still be found?" },
    h("h3", {}, "Who could still be found?"),
    found.risks.length > 0 && h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Risk of being found" },
      h("table", { class: "risks" },
        h("thead", {}, h("tr", {}, ["Intruder", "Highest", "On average"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, found.risks.map((risk) => h("tr", {},
          h("th", { scope: "row" }, h("strong", {}, risk.name), h("span", { class: "muted" }, ` ${risk.who}`)),
          [0, 1].map((i) => h("td", {}, pair(risk.before[i], risk.after[i])))))))),
    found.note && h("p", { class: "hint" }, visible(found.note)),
    h("div", { class: "grid" },
      found.sizes.length === 2 && distribution({ name: "Records by how many look alike", role: "quasi-identifiers", kind: "together", before }, { changed: null, bars: after }),
      found.combinations.length > 0 && h("div", { class: "single" },
        h("h4", {}, "Columns that single people out"),
        h("table", {},
          h("caption", { class: "unseen" }, "Records that are alone with their values in few columns"),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "alone by"), ["before", "after"].map((text) => h("th", { scope: "col", class: "number" }, text)))),
          h("tbody", {}, found.combinations.map((one) => h("tr", {},
            h("th", { scope: "row" }, one.columns.map((name) => short(name, 24)).join(" × ")),
            h("td", { class: "number" }, many(one.before)), h("td", { class: "number" }, many(one.after)))))),
        h("p", { class: "hint" }, "Records, counted in fives."))),
  );
}
