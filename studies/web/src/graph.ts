// A graph: nodes as circles, links as lines, one panel for each state.
import { s, type Child } from "./dom";
import { numbers, svgFigure } from "./figure";
import { num, short } from "./format";
import { caption } from "./pictures";
import type { GraphPicture, GraphState } from "./types";

const SIDE = 250; // of the square that the nodes stand in

/** Draw a graph. */
export function graph(picture: GraphPicture): HTMLElement {
  const title = short(picture.title, 60);
  const named = picture.nodes.some((node) => node.name);
  const beside = named ? 92 : picture.states.length > 1 ? 24 : 155; // a single one at the size of the others
  const wide = SIDE + 2 * beside;
  const width = wide * picture.states.length;
  const height = SIDE + 78;
  const largest = Math.max(1e-9, ...picture.states.flatMap((state) => state.sizes.map((size) => size ?? 0)));
  const widest = Math.max(1e-9, ...picture.states.flatMap((state) => state.links.map((link) => link.value ?? 0)));
  const panels = picture.states.map((state, i) =>
    s("g", { transform: `translate(${i * wide + beside} 50)` }, panel(picture, state, largest, widest)));
  const spoken = picture.states.map((state) => `${short(state.name, 40)}: ${state.links.length} links`).join("; ");
  const chart = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: picture.states.length > 1 ? "wide" : "wide small", role: "img", "aria-label": `${title}. ${short(picture.summary, 120)} ${spoken}.` },
    panels,
  );
  const unit = picture.unit ? ` [${short(picture.unit, 20)}]` : "";
  const meaning = [`area: ${short(picture.size, 60)}`, `width: ${short(picture.value, 60)}${unit}`, ...(picture.shade ? [`dark: ${short(picture.shade, 60)}`] : [])];
  const note = [caption(picture), `${meaning.join("; ").replace(/^a/, "A")}.`].filter((text) => text).join(" ");
  return svgFigure(title, chart, note, named ? table(picture, title) : null);
}

function panel(picture: GraphPicture, state: GraphState, largest: number, widest: number): Child[] {
  const room = (0.35 * SIDE) / Math.max(3, Math.sqrt(picture.nodes.length));
  const place = picture.nodes.map((node) => [node.x * SIDE, (1 - node.y) * SIDE]);
  const radius = state.sizes.map((size) => room * Math.sqrt(Math.max(0, size ?? 0) / largest) + 1);
  const lines = state.links.map(({ source, target, value }) => {
    const thick = (0.5 + (12 * (value ?? 0)) / widest).toFixed(1);
    const said = s("title", {}, `${name(picture, source)} – ${name(picture, target)}: ${shown(value)}${picture.unit ? ` ${short(picture.unit, 20)}` : ""}`);
    const [[x1, y1], [x2, y2]] = [place[source], place[target]];
    return source === target
      ? s("circle", { class: "link", cx: x1, cy: y1, r: radius[source].toFixed(1), "stroke-width": thick }, said)
      : s("line", { class: "link", x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), "stroke-width": thick }, said);
  });
  const circles = picture.nodes.map((node, v) => {
    const [x, y] = place[v];
    const left = node.x < 0.5 - 1e-9;
    const strength = state.shades.length ? 0.25 + 0.75 * (state.shades[v] ?? 0) : 0.85;
    const said = node.name ? `${short(node.name, 40)}: ${num(state.sizes[v])}` : "";
    return s(
      "g",
      {},
      s("circle", { class: "under", cx: x.toFixed(1), cy: y.toFixed(1), r: radius[v].toFixed(1) }),
      s("circle", { class: "node", cx: x.toFixed(1), cy: y.toFixed(1), r: radius[v].toFixed(1), "fill-opacity": strength.toFixed(2) }, said && s("title", {}, said)),
      node.name && s("text", { class: "label halo", x: (x + (left ? -1 : 1) * (radius[v] + 5)).toFixed(1), y: (y + 4).toFixed(1), "text-anchor": left ? "end" : "start" }, short(node.name, 14)),
    );
  });
  return [s("text", { class: "title", x: SIDE / 2, y: -39, "text-anchor": "middle" }, short(state.name, 40)), ...lines, ...circles];
}

/** Links by name, the value of each state beside those of the others. */
function table(picture: GraphPicture, title: string): HTMLElement {
  const rows = new Map<string, (string | number)[]>();
  picture.states.forEach((state, i) => {
    for (const { source, target, value } of state.links) {
      const key = `${name(picture, source)} – ${name(picture, target)}`;
      const row = rows.get(key) ?? [key, ...picture.states.map(() => "–")];
      row[i + 1] = shown(value);
      rows.set(key, row);
    }
  });
  const unit = picture.unit ? ` [${short(picture.unit, 20)}]` : "";
  return numbers(title, [`${short(picture.value, 40)}${unit}`, ...picture.states.map((state) => short(state.name, 40))], [...rows.values()]);
}

function name(picture: GraphPicture, v: number): string {
  return short(picture.nodes[v].name, 30) || String(v + 1);
}

function shown(value: number | null): string {
  return value === null ? "fewer than 5" : num(value);
}
