// Pictures of a solution: one function per picture type, whatever task they come from.
import { sankey, sankeyLinkHorizontal, type SankeyNode } from "d3-sankey";
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { App } from "./app";
import { bottomAxis, leftAxis, scale } from "./axes";
import { h, s, type Child } from "./dom";
import { numbers, resolved, svgFigure } from "./figure";
import { count, num, short } from "./format";
import { graph } from "./graph";
import { lattice, type Step } from "./lattice";
import { seriesPaint } from "./theme";
import type { BarsPicture, BlocksPicture, FormulaPicture, LinesPicture, MatrixPicture, Picture, TablePicture } from "./types";

/** Figures of a solution; `values` are its objectives, in the order of the axes. */
export function picturesOf(app: App, pictures: Picture[], values: (number | null)[], step?: Step): HTMLElement[] {
  return pictures.flatMap((picture) => {
    switch (picture.type) {
      case "bars": return [bars(picture)];
      case "lines": return [lines(picture)];
      case "matrix": return [matrix(picture), ...(flowing(picture) ? [flows(picture)] : [])];
      case "blocks": return [blocks(picture)];
      case "lattice": return lattice(app, picture, values, step);
      case "graph": return [graph(picture)];
      case "table": return [table(picture)];
      case "formula": return [formula(picture)];
    }
  });
}

/** A text that follows a value: its unit. */
function after(unit: string): string {
  return unit ? ` ${short(unit, 20)}` : "";
}

function blocks(picture: BlocksPicture): HTMLElement {
  const width = 640;
  const most = Math.max(1e-9, ...picture.blocks.map((block) => block.value ?? 0));
  const x = scaleLinear().domain([0, most]).range([0, 95]);
  let top = 22;
  const rows: SVGElement[] = [
    s("text", { class: "way", x: 0, y: 12 }, short(picture.items, 40)),
    s("text", { class: "way", x: 480, y: 12 }, short(picture.value, 24)),
  ];
  picture.blocks.forEach((block, b) => {
    const value = block.value ?? 0;
    let left = 8;
    let line = top + 8;
    const chips: SVGElement[] = [];
    for (const name of block.items) {
      const text = short(name, 22);
      const wide = text.length * 7.4 + 18;
      if (left + wide > 460 && left > 8) {
        left = 8;
        line += 30;
      }
      chips.push(s("rect", { class: "chip", x: left, y: line, width: wide, height: 24, rx: 4 }));
      chips.push(s("text", { class: "label", x: left + wide / 2, y: line + 16, "text-anchor": "middle" }, text));
      left += wide + 6;
    }
    const bottom = line + 32;
    rows.push(s("rect", { class: "block", x: 0, y: top, width: 468, height: bottom - top, rx: 6 }), ...chips);
    const middle = (top + bottom) / 2;
    rows.push(s("rect", { class: "after", x: 480, y: middle - 6, width: Math.max(1, x(value)), height: 12 }));
    rows.push(s("text", { class: "value", x: 486 + x(value), y: middle + 4 }, `${num(block.value)}${after(picture.unit)}`));
    rows.push(s("title", {}, `${short(picture.noun, 30)} ${b + 1}`));
    top = bottom + 8;
  });
  const title = short(picture.title, 60);
  const spoken = picture.blocks.map((b) => `${b.items.map((a) => short(a, 40)).join(", ")}: ${num(b.value)}${after(picture.unit)}`).join("; ");
  const chart = s("svg", { viewBox: `0 0 ${width} ${top}`, class: "wide medium", role: "img", "aria-label": `${title}, with ${short(picture.value, 40)}. ${spoken}.` }, rows);
  const head = picture.unit ? `${short(picture.value, 40)} [${short(picture.unit, 20)}]` : short(picture.value, 40);
  return svgFigure(title, chart, caption(picture),
    numbers(title, [short(picture.items, 40), head], picture.blocks.map((b) => [b.items.map((a) => short(a, 60)).join(", "), num(b.value)])));
}

function matrix(picture: MatrixPicture): HTMLElement {
  const title = short(picture.title, 60);
  const [rows, columns] = [picture.row_labels, picture.column_labels];
  const cell = Math.max(16, Math.min(46, 420 / Math.max(rows.length, columns.length)));
  const left = 118;
  const top = 84;
  const drawn: SVGElement[] = [];
  const records = (i: number, j: number): string => {
    if (!picture.records.length) return "";
    const expected = picture.records[i][j];
    return `, about ${expected === null ? "fewer than 5" : count(expected)} records`;
  };
  picture.shares.forEach((row, i) => {
    row.forEach((p, j) => {
      drawn.push(
        s(
          "g",
          { transform: `translate(${left + j * cell} ${top + i * cell})` },
          s("rect", { class: "cell", width: cell - 1, height: cell - 1, "fill-opacity": (0.04 + 0.86 * p).toFixed(3) }),
          cell >= 34 && p >= 0.005 && s("text", { class: p > 0.55 ? "value on" : "value", x: cell / 2, y: cell / 2 + 4, "text-anchor": "middle" }, p >= 0.995 ? "1" : p.toFixed(2).replace(/^0/, "")),
          s("title", {}, `${short(rows[i], 15)} → ${short(columns[j], 15)}: ${short(picture.measure, 30)} ${num(p)}${records(i, j)}`),
        ),
      );
    });
    drawn.push(s("text", { class: "label", x: left - 6, y: top + i * cell + cell / 2 + 4, "text-anchor": "end" }, short(rows[i], 15)));
  });
  columns.forEach((name, j) => {
    drawn.push(s("text", { class: "label", transform: `translate(${left + j * cell + cell / 2 + 4} ${top - 6}) rotate(-52)` }, short(name, 15)));
  });
  const [width, height] = [left + columns.length * cell + 60, top + rows.length * cell + 4];
  const heat = s("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "fixed", role: "img", "aria-label": `${title}. ${short(picture.summary, 120)}` }, drawn);
  const counted = picture.records.length > 0;
  const listed: (string | number)[][] = [];
  picture.shares.forEach((row, i) => {
    row.forEach((p, j) => {
      if (p >= 0.0005) listed.push([short(rows[i], 15), short(columns[j], 15), num(p), ...(counted ? [picture.records[i][j] ?? "fewer than 5"] : [])]);
    });
  });
  return svgFigure(title, heat, caption(picture),
    numbers(`${short(picture.name, 40)}, cells`, [short(picture.down, 30), short(picture.across, 30), short(picture.measure, 30), ...(counted ? ["expected records"] : [])], listed));
}

/** Whether records flow between values that are few enough to be drawn. */
function flowing(picture: MatrixPicture): boolean {
  return picture.records.length > 0 && Math.max(picture.row_labels.length, picture.column_labels.length) <= 16;
}

interface End {
  name: string;
  side: 0 | 1;
}

interface Flow {
  value: number;
  stays: boolean;
}

function flows(picture: MatrixPicture): HTMLElement {
  const title = short(picture.name, 40);
  const [from, to] = [picture.row_labels, picture.column_labels];
  const ends: End[] = [...from.map((name): End => ({ name, side: 0 })), ...to.map((name): End => ({ name, side: 1 }))];
  const links = picture.records.flatMap((row, i) => row.flatMap((moved, j) =>
    (moved === null || moved <= 0 ? [] : [{ source: i, target: from.length + j, value: moved, stays: from[i] === to[j] }])));
  const [left, right, width, gap] = [130, 470, 600, 17]; // the gap keeps labels apart, whatever the flows are
  const height = Math.max(200, Math.max(from.length, to.length) * 26);
  const marks: SVGElement[] = [];
  if (links.length > 0) {
    const drawn = sankey<End, Flow>()
      .nodeAlign((end) => end.side)
      .nodeSort((a, b) => (a.index ?? 0) - (b.index ?? 0))
      .nodeWidth(8)
      .nodePadding(gap)
      .extent([[left, 0], [right, height]])({ nodes: ends, links });
    const path = sankeyLinkHorizontal<End, Flow>();
    for (const link of drawn.links) {
      const [source, target] = [link.source as SankeyNode<End, Flow>, link.target as SankeyNode<End, Flow>];
      marks.push(s("path", { class: link.stays ? "flow stays" : "flow moves", d: path(link) ?? "", "stroke-width": Math.max(0.6, link.width ?? 0).toFixed(1) },
        s("title", {}, `${short(source.name, 30)} → ${short(target.name, 30)}: about ${count(link.value)} records`)));
    }
    for (const { name, side, x0 = 0, y0 = 0, y1 = 0 } of drawn.nodes) {
      marks.push(s("rect", { class: side === 0 ? "before" : "after", x: x0, y: y0, width: 8, height: Math.max(1, y1 - y0) }));
      marks.push(s("text", { class: "label flown", x: side === 0 ? left - 6 : right + 6, y: (y0 + y1) / 2 + 4, "text-anchor": side === 0 ? "end" : "start" }, short(name, 16)));
    }
  }
  const chart = s("svg", { viewBox: `0 -10 ${width} ${height + 20}`, class: "wide", role: "img", "aria-label": `Expected flows of records between the values of ${title}; the table of the matrix holds them.` }, marks);
  return svgFigure(`${title}: records that move`, chart, `Expected numbers of records, from ${short(picture.down, 30)} (left) to ${short(picture.across, 30)} (right); flows of fewer than five are not drawn.`);
}

function bars(picture: BarsPicture): HTMLElement {
  const title = short(picture.title, 60);
  const width = 520;
  const most = Math.max(1e-9, ...picture.values.map((value) => value ?? 0));
  const room = (width - 20) / Math.max(1, picture.values.length);
  const turned = picture.labels.some((label) => label.length * 7 > Math.min(72, room));
  const left = turned ? 72 : 10; // the first turned label reaches beyond its bar
  const step = Math.min(72, (width - left - 10) / Math.max(1, picture.values.length));
  const below = turned ? 110 : 40;
  const height = 176 + below;
  const y = scaleLinear().domain([0, most]).range([height - below, 36]);
  const marks: Child[] = picture.values.map((value, i) => {
    const top = y(value ?? 0);
    const label = short(picture.labels[i], 18);
    return s(
      "g",
      { transform: `translate(${left + i * step} 0)` },
      s("rect", { class: "after", x: 3, width: Math.max(1, step - 6), y: top, height: y(0) - top }),
      step >= 26 && s("text", { class: "value", x: step / 2, y: top - 5, "text-anchor": "middle" }, num(value)),
      turned
        ? s("text", { class: "label", transform: `translate(${step / 2 + 4} ${y(0) + 12}) rotate(-52)`, "text-anchor": "end" }, label)
        : s("text", { class: "label", x: step / 2, y: y(0) + 16, "text-anchor": "middle" }, label),
      s("title", {}, `${short(picture.labels[i], 80)}: ${num(value)}`),
    );
  });
  const spoken = picture.values.map((value, i) => `${short(picture.labels[i], 40)} ${short(picture.across, 40)}: ${num(value)} ${short(picture.up, 40)}`);
  const chart = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "wide small", role: "img", "aria-label": `${title}. ${spoken.join("; ")}.` },
    s("text", { class: "way", x: left, y: 12 }, short(picture.up, 40)),
    marks,
    s("line", { class: "base", x1: left, x2: width - 10, y1: y(0), y2: y(0) }),
    s("text", { class: "title", x: width - 10, y: height - 6, "text-anchor": "end" }, short(picture.across, 60)),
  );
  return svgFigure(title, chart, caption(picture), numbers(title, [short(picture.across, 40), short(picture.up, 40)], picture.labels.map((label, i) => [short(label, 60), num(picture.values[i])])));
}

const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

function lines(picture: LinesPicture): HTMLElement {
  const title = short(picture.title, 60);
  const [width, height, left, right, top, bottom] = [640, 280, 58, 16, 22, 44];
  const known = (values: (number | null)[]): number[] => values.filter((value) => value !== null);
  const ends = (values: number[]): [number, number] => (values.length ? [Math.min(...values), Math.max(...values)] : [0, 1]);
  const x = scale(ends(known(picture.places)), [left, width - right], false, 0.01);
  const y = scale(ends(known(picture.lines.flatMap((curve) => curve.values))), [height - bottom, top], false);
  const path = line<number>().defined((p) => p >= 0);
  const marks: Child[] = picture.lines.map((curve, c) => {
    const whole = curve.values.map((value, i) => (value === null || picture.places[i] === null ? -1 : i));
    const d = path.x((i) => x(picture.places[i] ?? 0)).y((i) => y(curve.values[i] ?? 0))(whole) ?? "";
    return s("path", { d, fill: "none", stroke: seriesPaint(c), "stroke-width": 1.6, "stroke-dasharray": DASHES[Math.floor(c / 8) % DASHES.length] || null }, s("title", {}, short(curve.name, 60)));
  });
  const spoken = picture.lines.map((curve) => `${short(curve.name, 40)}: ${num(curve.values[0])} to ${num(curve.values.at(-1))}`);
  const chart = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "wide medium", role: "img", "aria-label": `${title}. ${spoken.join("; ")}.` },
    leftAxis(y, left, [top, height - bottom], 5, width - right),
    bottomAxis(x, height - bottom, [left, width - right], 8),
    marks,
    s("text", { class: "title", x: 2, y: 12 }, short(picture.up, 60)),
    s("text", { class: "title", x: width - right, y: height - 6, "text-anchor": "end" }, short(picture.across, 60)),
  );
  const legend = picture.lines.length > 1 && h("ul", { class: "legend" }, picture.lines.map((curve, c) =>
    h("li", {}, s("svg", { width: 26, height: 10, "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: seriesPaint(c), "stroke-width": 2 })), short(curve.name, 60))));
  const table = numbers(title, [short(picture.across, 40), ...picture.lines.map((curve) => short(curve.name, 40))],
    picture.places.map((place, i) => [num(place), ...picture.lines.map((curve) => num(curve.values[i]))]));
  return svgFigure(title, chart, caption(picture), h("div", {}, legend, table),
    () => picture.lines.map((curve, c) => ({ text: short(curve.name, 60), colour: resolved(seriesPaint(c)), shape: "line", dash: DASHES[Math.floor(c / 8) % DASHES.length] })));
}

function table(picture: TablePicture): HTMLElement {
  const title = short(picture.title, 60);
  const numeric = (column: number) => picture.lines.some((line) => typeof line[column] === "number");
  const text = (cell: string | number | null) => (typeof cell === "string" ? short(cell, 60) : num(cell));
  const cell = (of: string | number | null, column: number) => column === 0
    ? h("th", { scope: "row" }, text(of))
    : h("td", numeric(column) ? { class: "number" } : {}, text(of));
  return h("figure", { class: "listing" },
    h("figcaption", {}, h("h3", {}, title), caption(picture) && h("p", { class: "hint" }, caption(picture))),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, h("table", {},
      h("thead", {}, h("tr", {}, picture.head.map((name, column) => h("th", numeric(column) ? { scope: "col", class: "number" } : { scope: "col" }, short(name, 40))))),
      h("tbody", {}, picture.lines.map((line) => h("tr", {}, line.map(cell)))))));
}

function formula(picture: FormulaPicture): HTMLElement {
  return h("figure", {}, h("figcaption", {}, h("h3", {}, short(picture.title, 60)), caption(picture) && h("p", { class: "hint" }, caption(picture))), h("pre", { tabindex: 0 }, short(picture.text, 4000)));
}

export function caption(picture: Picture): string | null {
  return picture.caption ? short(picture.caption, 400) : null;
}
