// How the search went: hypervolume of every seed with bands, front size, evaluations per second.
import { area, curveStepAfter, line } from "d3-shape";
import { concerns, type App, type Part } from "./app";
import { bottomAxis, leftAxis, scale } from "./axes";
import { h, replace, s, select, type Child, refocus } from "./dom";
import { numbers, resolved, svgFigure } from "./figure";
import { count, duration, num, short } from "./format";
import { onTheme, seriesPaint } from "./theme";
import type { Run, SeedHistory } from "./types";

type Against = "evaluated" | "generation" | "seconds";
const NAMES: Record<Against, string> = { evaluated: "evaluations", generation: "generations", seconds: "seconds of computing" };

interface Curve {
  name: string;
  colour: string;
  dash: string;
  points: [number, number][];
}

const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

/** Evaluations per second of a seed between two of its entries. */
export function rates(history: SeedHistory): number[] {
  return history.evaluated.map((value, i) => {
    const before = i === 0 ? [0, 0] : [history.evaluated[i - 1], history.seconds[i - 1]];
    const time = history.seconds[i] - before[1];
    return time > 0 ? (value - before[0]) / time : 0;
  });
}

export function progressPart(app: App): Part {
  const { store } = app;
  const root = h("section", { class: "view progress", "aria-label": "Progress" });
  let against: Against = "evaluated";

  function chart(title: string, label: string, curves: Curve[], bands: { run: number; band: Run["band"] }[], from: number | null): HTMLElement {
    const width = Math.max(320, Math.min(900, root.clientWidth || 800));
    const height = 300;
    const [left, right, top, bottom] = [58, 16, 22, 44];
    const points = curves.flatMap((curve) => curve.points);
    const xs = points.map((p) => p[0]);
    const ys = points.map((p) => p[1]);
    const ends = (values: number[]): [number, number] => [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    const ex = points.length ? ends(xs) : ([0, 1] as [number, number]);
    const ey = points.length ? ends(ys) : ([0, 1] as [number, number]);
    const x = scale(ex, [left, width - right], false, 0.01);
    const y = scale(from === null ? ey : [Math.min(from, ey[0]), ey[1]], [height - bottom, top], false, 0.03);
    const step = line().x((p) => x(p[0])).y((p) => y(p[1])).curve(curveStepAfter);
    const marks: Child[] = [leftAxis(y, left, [top, height - bottom], 5, width - right), bottomAxis(x, height - bottom, [left, width - right], width < 500 ? 4 : 8)];
    for (const { run, band } of bands) {
      const range = (low: number, high: number): string =>
        area<number>().x((i) => x(band.evaluated[i])).y0((i) => y(band.quantiles[low][i])).y1((i) => y(band.quantiles[high][i])).curve(curveStepAfter)(band.evaluated.map((_, i) => i)) ?? "";
      marks.push(s("path", { d: range(0, 4), fill: seriesPaint(run), "fill-opacity": 0.12 }));
      marks.push(s("path", { d: range(1, 3), fill: seriesPaint(run), "fill-opacity": 0.2 }));
    }
    for (const curve of curves) {
      marks.push(s("path", { d: step(curve.points) ?? "", fill: "none", stroke: curve.colour, "stroke-width": 1.6, "stroke-dasharray": curve.dash || null }, s("title", {}, curve.name)));
    }
    marks.push(s("text", { class: "title", x: width - right, y: height - 6, "text-anchor": "end" }, NAMES[against]));
    marks.push(s("text", { class: "title", x: 2, y: 12 }, label));
    const spoken = curves.map((curve) => `${curve.name}: ${num(curve.points.at(-1)?.[1])} at the end`).join("; ");
    const drawn = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "wide", role: "img", "aria-label": `${title} over ${NAMES[against]}. ${spoken}.` }, marks);
    const legend = curves.length > 1
      ? h("ul", { class: "legend" }, curves.map((curve) => h("li", {}, s("svg", { width: 26, height: 10, "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: curve.colour, "stroke-width": 2, "stroke-dasharray": curve.dash || null })), curve.name)))
      : null;
    const table = numbers(`${title}, ends`, ["curve", NAMES[against], label], curves.map((curve) => [curve.name, num(curve.points.at(-1)?.[0]), num(curve.points.at(-1)?.[1])]));
    return svgFigure(title, drawn, bands.length ? "Bands: all seeds (pale) and their middle half." : null, h("div", {}, legend, table),
      () => (curves.length > 1 ? curves.map((curve) => ({ text: curve.name, colour: resolved(curve.colour), shape: "line", dash: curve.dash })) : []));
  }

  function curves(value: (history: SeedHistory, i: number) => number): Curve[] {
    const { runs } = app.model.payload;
    return runs.flatMap((run, r) =>
      run.history.map((history, position) => ({
        name: `${runs.length > 1 ? `${short(run.called, 24)}, ` : ""}seed ${history.seed}`,
        colour: runs.length > 1 ? seriesPaint(r) : seriesPaint(position),
        dash: DASHES[(runs.length > 1 ? position : Math.floor(position / 8)) % DASHES.length],
        points: history[against].map((at, i): [number, number] => [at, value(history, i)]),
      })),
    );
  }

  function build(): void {
    const { runs } = app.model.payload;
    const open = [...root.querySelectorAll("details")].map((one) => one.open);
    const focused = root.contains(document.activeElement) && document.activeElement?.tagName === "SELECT";
    const rate = new Map<SeedHistory, number[]>(runs.flatMap((run) => run.history.map((history) => [history, rates(history)] as const)));
    const bands = against === "evaluated" ? runs.flatMap((run, i) => (run.band.seeds > 1 ? [{ run: i, band: run.band }] : [])) : [];
    replace(
      root,
      h("h2", { tabindex: -1 }, "How the search went"),
      h("div", { class: "row" }, select("Over", (Object.keys(NAMES) as Against[]).map((value) => ({ value, text: NAMES[value] })), against, (v) => { against = v as Against; build(); })),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Seeds" },
        h(
          "table",
          {},
          h("caption", {}, "Seeds"),
          h("thead", {}, h("tr", {}, ["Run", "Seed", "State", "Generations", "Evaluations", "Different solutions", "Time", "Per second"].map((text) => h("th", { scope: "col" }, text)))),
          h(
            "tbody",
            {},
            runs.flatMap((run) =>
              run.states.map((state) =>
                h(
                  "tr",
                  {},
                  h("td", {}, short(run.called, 30)),
                  h("th", { scope: "row" }, state.seed),
                  h("td", {}, state.status === "stopped" ? "stopped: no process works on it" : state.status, state.reason && h("span", { class: "muted" }, ` (${short(state.reason, 60)})`)),
                  [state.generations, state.evaluated, state.solutions].map((n) => h("td", { class: "number" }, count(n))),
                  h("td", { class: "number" }, duration(state.seconds)),
                  h("td", { class: "number" }, state.seconds > 0 ? count(state.evaluated / state.seconds) : "–"),
                ),
              ),
            ),
          ),
        ),
      ),
      chart("Hypervolume", "share of the box that is dominated", curves((history, i) => history.hypervolume[i]), bands, null),
      chart("Solutions on the front", "solutions", curves((history, i) => history.front[i]), [], 0),
      chart("Speed", "evaluations per second", curves((history, i) => rate.get(history)?.[i] ?? 0), [], 0),
    );
    [...root.querySelectorAll("details")].forEach((one, i) => { one.open = open[i] ?? false; });
    if (focused) refocus(root.querySelector("select"));
  }

  const redraw = (): void => { if (store.state.view === "progress") build(); };
  onTheme(redraw);
  let wide = 0;
  new ResizeObserver(() => {
    if (Math.abs(root.clientWidth - wide) > 8) {
      wide = root.clientWidth;
      redraw();
    }
  }).observe(root);
  return {
    root,
    update(changed) {
      if (store.state.view === "progress" && concerns(changed, "view", "data")) build();
    },
  };
}
