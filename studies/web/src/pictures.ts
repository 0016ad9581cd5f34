// The picture of each task: attribute groups, a node of the lattice, transition matrices, cluster sizes.
import { scaleLinear } from "d3-scale";
import type { App } from "./app";
import { h, s, type Child } from "./dom";
import { numbers, svgFigure } from "./figure";
import { count, num, short, withUnit } from "./format";
import type { ClusterPicture, GroupsPicture, LatticePicture, MatrixPicture, Picture } from "./types";

/** Figures of a solution; `index` of the attribute's colour stays the same over solutions. */
export function pictureOf(app: App, picture: Picture, values: (number | null)[]): HTMLElement[] {
  switch (picture.type) {
    case "groups": return [groups(picture)];
    case "lattice": return [levels(picture), ...(picture.neighbours.length ? [hasse(app, picture, values)] : [])];
    case "matrices": return matrices(picture);
    case "clusters": return [clusters(picture)];
  }
}

function groups(picture: GroupsPicture): HTMLElement {
  const width = 640;
  const most = Math.max(1e-9, ...picture.groups.map((group) => group.loss));
  const x = scaleLinear().domain([0, most]).range([0, 95]);
  let top = 22;
  const rows: SVGElement[] = [
    s("text", { class: "way", x: 0, y: 12 }, "protected together"),
    s("text", { class: "way", x: 480, y: 12 }, "variance lost"),
  ];
  picture.groups.forEach((group, g) => {
    let left = 8;
    let line = top + 8;
    const chips: SVGElement[] = [];
    for (const name of group.attributes) {
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
    rows.push(s("rect", { class: "after", x: 480, y: middle - 6, width: Math.max(1, x(group.loss)), height: 12 }));
    rows.push(s("text", { class: "value", x: 486 + x(group.loss), y: middle + 4 }, `${num(group.loss)} %`));
    rows.push(s("title", {}, `group ${g + 1}`));
    top = bottom + 8;
  });
  const spoken = picture.groups.map((g) => `${g.attributes.map((a) => short(a, 40)).join(", ")}: ${num(g.loss)} % lost`).join("; ");
  const chart = s("svg", { viewBox: `0 0 ${width} ${top}`, class: "wide medium", role: "img", "aria-label": `Attribute groups. ${spoken}.` }, rows);
  return svgFigure("Attribute groups", chart, `Each block is microaggregated on its own, in clusters of at least ${picture.k} records.`,
    numbers("groups", ["attributes", "variance lost [%]"], picture.groups.map((g) => [g.attributes.map((a) => short(a, 60)).join(", "), num(g.loss)])));
}

function levels(picture: LatticePicture): HTMLElement {
  const narrow = window.innerWidth < 640;
  const width = narrow ? 336 : 640;
  const row = 34;
  const left = narrow ? 112 : 130;
  const tallest = Math.max(1, ...picture.attributes.map((a) => a.levels.length - 1));
  const step = Math.min(64, (narrow ? 126 : 300) / tallest);
  const rows = picture.attributes.map((attribute, i) =>
    s(
      "g",
      { transform: `translate(0 ${i * row + 4})` },
      s("text", { class: "label", x: left - 8, y: 18, "text-anchor": "end" }, short(attribute.name, 17)),
      attribute.levels.slice(1).map((text, l) =>
        s("rect", { class: l < attribute.level ? "after" : "empty", x: left + l * step, y: 5, width: step - 3, height: 18, rx: 2 }, s("title", {}, short(text, 80))),
      ),
      s("text", { class: "value", x: left + (attribute.levels.length - 1) * step + 6, y: 18 }, short(attribute.levels[attribute.level], narrow ? 14 : 28)),
    ),
  );
  const spoken = picture.attributes.map((a) => `${short(a.name, 40)} level ${a.level} of ${a.levels.length - 1}, ${short(a.levels[a.level], 60)}`);
  const chart = s("svg", { viewBox: `0 0 ${width} ${picture.attributes.length * row + 8}`, class: "wide", role: "img", "aria-label": `Generalisation levels: ${spoken.join("; ")}.` }, rows);
  return svgFigure("How far each attribute is generalised", chart, "Filled steps are taken; an empty row is released as it is.",
    numbers("levels", ["attribute", "level", "meaning"], picture.attributes.map((a) => [short(a.name, 60), `${a.level} of ${a.levels.length - 1}`, short(a.levels[a.level], 80)])));
}

/** Whether other values are better (1), worse (-1), equal (0) or a trade-off (2). */
export function verdict(senses: ("min" | "max")[], from: (number | null)[], to: (number | null)[]): -1 | 0 | 1 | 2 {
  const signs = senses.map((sense, a) => {
    const [p, q] = [from[a], to[a]];
    if (p === null || q === null || p === q) return 0;
    return (sense === "min") === q < p ? 1 : -1;
  });
  const better = signs.includes(1);
  const worse = signs.includes(-1);
  return better && worse ? 2 : better ? 1 : worse ? -1 : 0;
}

const WORDS: Record<string, string> = { "-1": "worse", "0": "equal", "1": "better", "2": "trade-off" };

function hasse(app: App, picture: LatticePicture, values: (number | null)[]): HTMLElement {
  const senses = app.model.axes.map((axis) => axis.sense);
  const above = picture.neighbours.filter((n) => n.step > 0);
  const below = picture.neighbours.filter((n) => n.step < 0);
  const most = Math.max(above.length, below.length, 1);
  const wide = 104;
  const gap = 10;
  const width = Math.max(640, most * (wide + gap) + gap);
  const tall = 34 + 15 * app.model.axes.length;
  const height = 3 * tall + 2 * 56 + 8;
  const centre = width / 2;
  const node = (x: number, y: number, title: string, line: string, to: (number | null)[], kind: string): SVGElement =>
    s(
      "g",
      { transform: `translate(${x - wide / 2} ${y})`, class: `node ${kind}` },
      s("rect", { width: wide, height: tall, rx: 6 }),
      s("text", { class: "label", x: wide / 2, y: 15, "text-anchor": "middle" }, short(title, 15)),
      s("text", { class: "value", x: wide / 2, y: 29, "text-anchor": "middle" }, short(line, 17)),
      app.model.axes.map((axis, a) =>
        s("text", { class: "value", x: wide / 2, y: 45 + 15 * a, "text-anchor": "middle" }, `${short(axis.name, 8)} ${num(to[a])}`),
      ),
      s("title", {}, `${short(title, 60)}: ${short(line, 80)}`),
    );
  const middle = tall + 56;
  const marks: SVGElement[] = [];
  const place = (row: typeof above, y: number, fromY: number, toY: number): void => {
    row.forEach((neighbour, i) => {
      const attribute = picture.attributes[neighbour.attribute];
      const x = centre + (i - (row.length - 1) / 2) * (wide + gap);
      const sign = verdict(senses, values, neighbour.values);
      marks.push(s("line", { class: `edge v${sign}`, x1: x, y1: fromY, x2: centre, y2: toY }));
      marks.push(node(x, y, attribute.name, attribute.levels[attribute.level + neighbour.step], neighbour.values, `v${sign}`));
    });
  };
  place(above, 4, 4 + tall, middle);
  place(below, middle + tall + 56, middle + tall + 56, middle + tall);
  marks.push(node(centre, middle, "this node", picture.attributes.map((a) => a.level).join(" "), values, "here"));
  const table = numbers(
    "neighbours in the lattice",
    ["step", "becomes", ...app.model.axes.map((axis) => short(axis.label, 40)), "than this node"],
    picture.neighbours.map((n) => {
      const attribute = picture.attributes[n.attribute];
      return [
        `${short(attribute.name, 40)} ${n.step > 0 ? "one level up" : "one level down"}`,
        short(attribute.levels[attribute.level + n.step], 60),
        ...app.model.axes.map((axis, a) => withUnit(n.values[a], axis.unit)),
        WORDS[String(verdict(senses, values, n.values))],
      ];
    }),
  );
  const chart = s("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "fixed", role: "img", "aria-label": `The node and its ${picture.neighbours.length} neighbours in the lattice; the table below holds them.` }, marks);
  const drawn = svgFigure(
    "Neighbours in the lattice",
    chart,
    "Above: one attribute generalised one level further; below: one level less. Solid green edges lead to something better in every objective, dashed ones to a trade-off, grey ones to something worse.",
    table,
  );
  if (width > 640) drawn.classList.add("span");
  return drawn;
}

function matrices(picture: MatrixPicture): HTMLElement[] {
  const found: HTMLElement[] = [];
  if (picture.equation) {
    found.push(h("figure", {}, h("figcaption", {}, h("h3", {}, "The equation of the matrices")), h("pre", { tabindex: 0 }, short(picture.equation, 4000))));
  }
  for (const matrix of picture.matrices) {
    const title = short(matrix.attribute, 40);
    const n = matrix.categories.length;
    const cell = Math.max(16, Math.min(46, 420 / n));
    const left = 118;
    const top = 84;
    const label = (i: number): string => short(matrix.categories[i], 15);
    const cells: SVGElement[] = [];
    matrix.rows.forEach((row, i) => {
      row.forEach((p, j) => {
        const flow = matrix.flows[i][j];
        cells.push(
          s(
            "g",
            { transform: `translate(${left + j * cell} ${top + i * cell})` },
            s("rect", { class: "cell", width: cell - 1, height: cell - 1, "fill-opacity": (0.04 + 0.86 * p).toFixed(3) }),
            cell >= 34 && p >= 0.005 && s("text", { class: p > 0.55 ? "value on" : "value", x: cell / 2, y: cell / 2 + 4, "text-anchor": "middle" }, p >= 0.995 ? "1" : p.toFixed(2).replace(/^0/, "")),
            s("title", {}, `${label(i)} → ${label(j)}: probability ${num(p)}, about ${flow === null ? "fewer than 5" : count(flow)} records`),
          ),
        );
      });
      cells.push(s("text", { class: "label", x: left - 6, y: top + i * cell + cell / 2 + 4, "text-anchor": "end" }, label(i)));
      cells.push(s("text", { class: "label", transform: `translate(${left + i * cell + cell / 2 + 4} ${top - 6}) rotate(-52)` }, label(i)));
    });
    const heat = s("svg", { viewBox: `0 0 ${left + n * cell + 60} ${top + n * cell + 4}`, width: left + n * cell + 60, class: "fixed", role: "img", "aria-label": `Transition matrix of ${title}: ${kept(matrix)}` }, cells);
    const flowRows: (string | number)[][] = [];
    matrix.rows.forEach((row, i) => { row.forEach((p, j) => { if (p >= 0.0005) flowRows.push([label(i), label(j), num(p), matrix.flows[i][j] ?? "fewer than 5"]); }); });
    found.push(svgFigure(`${title}: where each value goes`, heat, `A row's cells say with which probability its value is released as each other one. ${kept(matrix)}`,
      numbers(`${title}, probabilities and expected records`, ["from", "to", "probability", "records"], flowRows)));
    if (n <= 16) found.push(flows(title, matrix));
  }
  return found;
}

function kept(matrix: MatrixPicture["matrices"][number]): string {
  const diagonal = matrix.rows.map((row, i) => row[i]);
  return `A value is kept with probability ${num(Math.min(...diagonal))} to ${num(Math.max(...diagonal))}.`;
}

function flows(title: string, matrix: MatrixPicture["matrices"][number]): HTMLElement {
  const n = matrix.categories.length;
  const total = matrix.flows.flat().reduce<number>((sum, f) => sum + (f ?? 0), 0) || 1;
  const gap = 8;
  const height = Math.max(200, n * 26);
  const unit = (height - gap * (n - 1)) / total;
  const [left, right, width] = [130, 470, 600];
  const out = matrix.flows.map((row) => row.reduce<number>((sum, f) => sum + (f ?? 0), 0));
  const into = matrix.categories.map((_, j) => matrix.flows.reduce<number>((sum, row) => sum + (row[j] ?? 0), 0));
  const starts = (sizes: number[]): number[] => {
    let at = 0;
    return sizes.map((size) => {
      const here = at;
      at += size * unit + gap;
      return here;
    });
  };
  const [sides, ends] = [starts(out), starts(into)];
  const [fromAt, toAt] = [[...sides], [...ends]];
  const middle = (left + right) / 2;
  const marks: SVGElement[] = [];
  matrix.flows.forEach((row, i) => {
    row.forEach((flow, j) => {
      if (flow === null || flow <= 0) return;
      const thick = flow * unit;
      const [y0, y1] = [fromAt[i] + thick / 2, toAt[j] + thick / 2];
      fromAt[i] += thick;
      toAt[j] += thick;
      marks.push(s("path", { class: i === j ? "flow stays" : "flow moves", d: `M${left + 8},${y0.toFixed(1)}C${middle},${y0.toFixed(1)} ${middle},${y1.toFixed(1)} ${right - 8},${y1.toFixed(1)}`, "stroke-width": Math.max(0.6, thick).toFixed(1) },
        s("title", {}, `${short(matrix.categories[i], 30)} → ${short(matrix.categories[j], 30)}: about ${count(flow)} records`)));
    });
  });
  matrix.categories.forEach((name, i) => {
    marks.push(s("rect", { class: "before", x: left, y: sides[i], width: 8, height: Math.max(1, out[i] * unit) }));
    marks.push(s("rect", { class: "after", x: right - 8, y: ends[i], width: 8, height: Math.max(1, into[i] * unit) }));
    marks.push(s("text", { class: "label", x: left - 6, y: sides[i] + (out[i] * unit) / 2 + 4, "text-anchor": "end" }, short(name, 16)));
    marks.push(s("text", { class: "label", x: right + 6, y: ends[i] + (into[i] * unit) / 2 + 4 }, short(name, 16)));
  });
  const chart = s("svg", { viewBox: `0 -4 ${width} ${height + 8}`, class: "wide", role: "img", "aria-label": `Expected flows of records between the values of ${title}; the table of the matrix holds them.` }, marks);
  return svgFigure(`${title}: records that move`, chart, "Expected numbers of records, from the original value (left) to the released one (right); flows of fewer than five are not drawn.");
}

function clusters(picture: ClusterPicture): HTMLElement {
  const bars = picture.bars;
  const width = 520;
  const height = 200;
  const most = Math.max(1, ...bars.map((bar) => bar.clusters));
  const y = scaleLinear().domain([0, most]).range([height - 40, 20]);
  const step = Math.min(72, (width - 20) / Math.max(1, bars.length));
  const label = (bar: ClusterPicture["bars"][number]): string => (bar.from === bar.to ? String(bar.from) : `${bar.from}–${bar.to}`);
  const marks: Child[] = bars.map((bar, i) =>
    s(
      "g",
      { transform: `translate(${10 + i * step} 0)` },
      s("rect", { class: "after", x: 3, width: step - 6, y: y(bar.clusters), height: y(0) - y(bar.clusters) }),
      s("text", { class: "value", x: step / 2, y: y(bar.clusters) - 5, "text-anchor": "middle" }, count(bar.clusters)),
      s("text", { class: "label", x: step / 2, y: height - 24, "text-anchor": "middle" }, label(bar)),
    ),
  );
  const chart = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "wide small", role: "img", "aria-label": `Cluster sizes: ${bars.map((bar) => `${bar.clusters} clusters of ${label(bar)} records`).join("; ")}.` },
    marks,
    s("line", { class: "base", x1: 10, x2: width - 10, y1: y(0), y2: y(0) }),
    s("text", { class: "title", x: width - 10, y: height - 6, "text-anchor": "end" }, "records in the cluster"),
  );
  return svgFigure("Cluster sizes", chart, `${count(picture.clusters)} clusters; each bar stands for at least five.`,
    numbers("clusters", ["records", "clusters"], bars.map((bar) => [label(bar), bar.clusters])));
}
