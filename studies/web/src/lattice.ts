// A node of a lattice of levels: how far each attribute goes, and the nodes one step away.
import type { App } from "./app";
import { s } from "./dom";
import { numbers, svgFigure } from "./figure";
import { num, short, withUnit } from "./format";
import type { LatticePicture } from "./types";

/** Goes one level further (1) or back (-1) in an attribute. */
export type Step = (attribute: number, way: number) => void;

export function lattice(app: App, picture: LatticePicture, values: (number | null)[], step?: Step): HTMLElement[] {
  return [levels(picture), ...(picture.neighbours.length ? [hasse(app, picture, values, step)] : [])];
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
  const title = short(picture.title, 60);
  const spoken = picture.attributes.map((a) => `${short(a.name, 40)} level ${a.level} of ${a.levels.length - 1}, ${short(a.levels[a.level], 60)}`);
  const chart = s("svg", { viewBox: `0 0 ${width} ${picture.attributes.length * row + 8}`, class: "wide", role: "img", "aria-label": `${title}: ${spoken.join("; ")}.` }, rows);
  return svgFigure(title, chart, picture.caption ? short(picture.caption, 400) : null,
    numbers("levels", ["attribute", short(picture.across, 40), "meaning"], picture.attributes.map((a) => [short(a.name, 60), `${a.level} of ${a.levels.length - 1}`, short(a.levels[a.level], 80)])));
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

function hasse(app: App, picture: LatticePicture, values: (number | null)[], step?: Step): HTMLElement {
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
      const drawn = node(x, y, attribute.name, attribute.levels[attribute.level + neighbour.step], neighbour.values, `v${sign}`);
      if (step !== undefined) clickable(drawn, () => { step(neighbour.attribute, neighbour.step); });
      marks.push(drawn);
    });
  };
  place(above, 4, 4 + tall, middle);
  place(below, middle + tall + 56, middle + tall + 56, middle + tall);
  marks.push(node(centre, middle, "this node", picture.attributes.map((a) => a.level).join(" "), values, "here"));
  const table = numbers(
    "neighbors in the lattice",
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
  const chart = s("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "fixed", role: step === undefined ? "img" : "group", "aria-label": `The node and its ${picture.neighbours.length} neighbors in the lattice; the table below holds them.` }, marks);
  const drawn = svgFigure(
    "Neighbors in the lattice",
    chart,
    "Above: one level further in one of them; below: one level less. Solid green edges lead to something better in every objective, dashed ones to a trade-off, gray ones to something worse." + (step === undefined ? "" : " Click one to walk there."),
    table,
  );
  if (width > 640) drawn.classList.add("span");
  // Where the page is narrower, this node is what is seen first.
  requestAnimationFrame(() => {
    const body = drawn.querySelector(".scrolls");
    if (body !== null) body.scrollLeft = (body.scrollWidth - body.clientWidth) / 2;
  });
  return drawn;
}

/** A mark that acts as a button, by pointer and by keyboard. */
function clickable(mark: SVGElement, act: () => void): void {
  for (const [name, value] of Object.entries({ role: "button", tabindex: "0" })) mark.setAttribute(name, value);
  mark.querySelector("title")?.remove(); // its name is what stands in it
  mark.classList.add("goes");
  mark.addEventListener("click", act);
  mark.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
}
