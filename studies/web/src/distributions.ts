// An attribute before and after: bars of at least five records, or what is left of them.
import { scaleLinear } from "d3-scale";
import { h, s } from "./dom";
import { numbers, resolved, svgFigure, type Entry } from "./figure";
import { binLabel, count, num, short } from "./format";
import type { After, Attribute, BinBars, LabelBars } from "./types";

interface Line {
  label: string;
  before: number | null;
  after: number | null;
}

/** Before and after side by side, label by label; labels that only one of them has stay with the one. */
export function joined(before: LabelBars, after: LabelBars): Line[] {
  const afterOf = new Map(after.labels.map((label, i) => [label, after.counts[i]]));
  const known = new Set(before.labels);
  const lines: Line[] = before.labels.map((label, i) => ({
    label, before: before.counts[i], after: afterOf.get(label) ?? null,
  }));
  after.labels.forEach((label, i) => {
    if (!known.has(label)) lines.push({ label: label === "*" ? "blanked (*)" : label, before: null, after: after.counts[i] });
  });
  if (before.rest > 0 || after.rest > 0) {
    lines.push({ label: "rare values", before: before.rest || null, after: after.rest || null });
  }
  return lines;
}

const WIDTH = 340;

export function distribution(attribute: Attribute, after: After | null): HTMLElement {
  const title = short(attribute.name, 40);
  const unchanged = after === null || (after.changed === 0 && after.bars === null);
  const gone = after !== null && after.bars === null && after.changed !== 0;
  const share = after?.changed === null || after === null ? "" : ` · ${num(after.changed)} % of cells changed`;
  const caption = `${attribute.role}, ${attribute.kind}${unchanged ? (after === null ? "" : " · unchanged") : gone ? " · not in the released file" : share}`;
  const now = after?.bars ?? null;
  if (attribute.before.kind === "bins" && (now === null || now.kind === "bins")) {
    return histogram(title, caption, attribute.before, now);
  }
  if (attribute.before.kind === "labels" && (now === null || now.kind === "labels")) {
    const lines = now === null
      ? joined(attribute.before, { ...attribute.before, labels: [], counts: [], rest: 0 }).map((line) => ({ ...line, after: null }))
      : joined(attribute.before, now);
    return bars(title, caption, lines, now !== null);
  }
  // Numbers that became labels (bands): two charts, one above the other.
  const released = now as LabelBars;
  return h(
    "div",
    { class: "pair" },
    histogram(title, `${attribute.role}, before`, attribute.before as BinBars, null),
    bars(title, `after${share}`, joined({ ...released, labels: [], counts: [], rest: 0 }, released), true),
  );
}

function bars(title: string, caption: string, lines: Line[], withAfter: boolean): HTMLElement {
  const all = lines;
  lines = compact(all);
  const row = 24;
  const left = 118;
  const most = Math.max(1, ...lines.map((line) => Math.max(line.before ?? 0, line.after ?? 0)));
  const x = scaleLinear().domain([0, most]).range([0, WIDTH - left - 52]);
  const height = lines.length * row + 8;
  const chart = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "bars", role: "img", "aria-label": spoken(title, lines) },
    lines.map((line, i) =>
      s(
        "g",
        { transform: `translate(0 ${i * row + 4})` },
        s("text", { class: "label", x: left - 6, y: 14, "text-anchor": "end" }, short(line.label, 15)),
        line.before !== null && s("rect", { class: "before", x: left, y: 2, height: withAfter ? 8 : 15, width: Math.max(1, x(line.before)) }),
        line.after !== null && s("rect", { class: "after", x: left, y: 11, height: 8, width: Math.max(1, x(line.after)) }),
        s(
          "text",
          { class: "value", x: left + x(Math.max(line.before ?? 0, line.after ?? 0)) + 5, y: 14 },
          count(line.after ?? line.before ?? 0),
        ),
        s("title", {}, `${short(line.label, 80)}: ${line.before ?? "–"} before, ${line.after ?? "–"} after`),
      ),
    ),
  );
  const table = numbers(
    `${title}, records`,
    ["value", "before", "after"],
    all.map((line) => [short(line.label, 80), line.before ?? "–", line.after ?? "–"]),
  );
  return svgFigure(title, chart, caption, table, () => sides(withAfter));
}

function sides(withAfter: boolean): Entry[] {
  const before: Entry = { text: "original", colour: resolved("var(--worse)"), shape: "square" };
  return withAfter ? [before, { text: "released", colour: resolved("var(--accent)"), shape: "square" }] : [before];
}

const MOST_LINES = 14;

/** The largest lines in their order; the rest as one. */
export function compact(lines: Line[], most = MOST_LINES): Line[] {
  if (lines.length <= most) return lines;
  const size = (line: Line): number => Math.max(line.before ?? 0, line.after ?? 0);
  const kept = new Set([...lines].sort((a, b) => size(b) - size(a)).slice(0, most - 1));
  const sum = (of: "before" | "after"): number | null => {
    const values = lines.flatMap((line) => (kept.has(line) || line[of] === null ? [] : [line[of]]));
    return values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
  };
  return [
    ...lines.filter((line) => kept.has(line)),
    { label: `${lines.length - kept.size} others`, before: sum("before"), after: sum("after") },
  ];
}

function histogram(title: string, caption: string, before: BinBars, after: BinBars | null): HTMLElement {
  const height = 128;
  const bottom = 24;
  const n = before.counts.length;
  const most = Math.max(1, ...before.counts.map((c) => c ?? 0), ...(after?.counts ?? []).map((c) => c ?? 0));
  const y = scaleLinear().domain([0, most]).range([height - bottom, 8]);
  const step = (WIDTH - 12) / n;
  const line = (i: number): string => binLabel(before.edges, i);
  const chart = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "bars", role: "img",
      "aria-label": spoken(title, before.counts.map((c, i) => ({ label: line(i), before: c, after: after ? after.counts[i] : null }))) },
    before.counts.map((c, i) => {
      const now = after?.counts[i] ?? null;
      return s(
        "g",
        { transform: `translate(${6 + i * step} 0)` },
        c !== null && s("rect", { class: "before", x: 0.5, width: step - 1, y: y(c), height: y(0) - y(c) }),
        now !== null && now > 0 && s("rect", { class: "after thin", x: step * 0.25, width: step * 0.5, y: y(now), height: y(0) - y(now) }),
        after !== null && after.counts[i] === null && s("text", { class: "value", x: step / 2, y: y(0) - 3, "text-anchor": "middle" }, "·"),
        s("title", {}, `${line(i)}: ${c ?? "fewer than 5"} before${after ? `, ${after.counts[i] ?? "fewer than 5"} after` : ""}`),
      );
    }),
    s("line", { class: "base", x1: 6, x2: WIDTH - 6, y1: y(0), y2: y(0) }),
    edgeTicks(before.edges, step),
  );
  const table = numbers(
    `${title}, records`,
    ["value", "before", "after"],
    before.counts.map((c, i) => [line(i), c ?? "hidden", after ? (after.counts[i] ?? "hidden") : "–"]),
  );
  return svgFigure(title, chart, caption, table, () => sides(after !== null));
}

function edgeTicks(edges: number[], step: number): SVGElement[] {
  const every = Math.max(1, Math.ceil(edges.length / 6));
  return edges.flatMap((edge, i) =>
    i % every === 0 ? [s("text", { class: "value", x: 6 + (i + 1) * step, y: 122, "text-anchor": "middle" }, num(edge))] : [],
  );
}

function spoken(title: string, lines: Line[]): string {
  const parts = lines.slice(0, 8).map((line) =>
    `${short(line.label, 40)} ${line.before ?? "–"}${line.after === null ? "" : ` before, ${line.after} after`}`,
  );
  return `Distribution of ${title}, in records: ${parts.join("; ")}${lines.length > 8 ? "; and more in the table below" : ""}.`;
}

