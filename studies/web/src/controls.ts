// What is on the map: axes, scales, layers, runs and seeds.
import { concerns, type App, type Part } from "./app";
import { checkbox, h, replace, select, s, refocus } from "./dom";
import { axisTitle, short } from "./format";
import { skewed } from "./model";
import { RUN_SHAPES, svgMark, type Shape } from "./painter";
import type { Colour } from "./state";
import { onTheme, seriesColour, theme } from "./theme";

export function controlsPart(app: App): Part {
  const { store } = app;
  const root = h("div", { class: "controls" });

  function toggled(set: ReadonlySet<number>, value: number): ReadonlySet<number> {
    const next = new Set(set);
    if (!next.delete(value)) next.add(value);
    return next;
  }

  function swatch(shape: Shape, colour: string): SVGSVGElement {
    const size = shape === "dot" ? 4 : shape === "ring" ? 3.5 : 4.5;
    return s("svg", { class: "swatch", width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, svgMark(shape, 7, 7, colour, size));
  }

  function layer(shape: Shape, colour: string, label: string, on: boolean, change: (on: boolean) => void): HTMLElement {
    const box = checkbox(label, on, change);
    box.insertBefore(swatch(shape, colour), box.lastChild);
    return box;
  }

  function build(): void {
    const { model } = app;
    const { state } = store;
    const t = theme();
    const options = model.axes.map((axis, a) => ({ value: String(a), text: axisTitle(axis) }));
    const counts = [0, 0, 0, 0, 0];
    for (const kind of model.kind) counts[kind] += 1;
    const logBox = (side: "logX" | "logY", axis: number): HTMLElement => {
      const box = checkbox("log", state[side], (on) => { store.set({ [side]: on }); });
      const input = box.querySelector("input")!;
      input.disabled = model.extents[axis][0] <= 0;
      box.title = input.disabled ? "a logarithmic scale needs values above 0" : "logarithmic scale";
      input.setAttribute("aria-label", `${side === "logX" ? "horizontal" : "vertical"}: logarithmic scale`);
      return box;
    };
    const { runs } = model.payload;
    const seeds = [...new Set(runs.flatMap((run) => run.seeds))].sort((a, b) => a - b);
    replace(
      root,
      h(
        "div",
        { class: "row" },
        select("Horizontal", options, String(state.x), (v) => { store.set({ x: Number(v), logX: skewed(app.model, Number(v)) }); }),
        logBox("logX", state.x),
        model.axes.length > 1 && select("Vertical", options, String(state.y), (v) => { store.set({ y: Number(v), logY: skewed(app.model, Number(v)) }); }),
        model.axes.length > 1 && logBox("logY", state.y),
        (runs.length > 1 || seeds.length > 1) &&
          select(
            "Color",
            [{ value: "kind", text: "type" }, ...(runs.length > 1 ? [{ value: "run", text: "run" }] : []), { value: "seed", text: "seed" }],
            state.colour,
            (v) => { store.set({ colour: v as Colour }); },
          ),
      ),
      h(
        "div",
        { class: "row", role: "group", "aria-label": "Layers" },
        h("span", { class: "fixed" }, swatch("disc", t.front), `front (${counts[2]})`),
        layer("ring", t.own, `best of its seed (${counts[1]})`, state.own, (on) => { store.set({ own: on }); }),
        layer("dot", t.dominated, `dominated (${counts[0]})`, state.dominated, (on) => { store.set({ dominated: on }); }),
        counts[3] > 0 && layer("diamond", t.baseline, `baselines (${counts[3]})`, state.baselines, (on) => { store.set({ baselines: on }); }),
        counts[4] > 0 && layer("square", t.original, "original", state.original, (on) => { store.set({ original: on }); }),
        checkbox("only what meets the requirements", state.usable, (on) => { store.set({ usable: on }); }),
      ),
      runs.length > 1 &&
        h(
          "div",
          { class: "row", role: "group", "aria-label": "Runs" },
          runs.map((run, i) =>
            layer(RUN_SHAPES[i % RUN_SHAPES.length], seriesColour(i), short(run.called, 40), !state.hiddenRuns.has(i), () => {
              store.set({ hiddenRuns: toggled(store.state.hiddenRuns, i) });
            }),
          ),
        ),
      seeds.length > 1 &&
        h(
          "details",
          { class: "seeds" },
          h("summary", {}, `Seeds (${seeds.length})`),
          h(
            "div",
            { class: "row", role: "group", "aria-label": "Seeds" },
            seeds.map((seed) =>
              layer("square", seriesColour(runs[0].seeds.indexOf(seed)), `seed ${seed}`, !state.hiddenSeeds.has(seed), () => {
                store.set({ hiddenSeeds: toggled(store.state.hiddenSeeds, seed) });
              }),
            ),
          ),
        ),
    );
  }

  /** Keep the keyboard's place: rebuilding would lose the focused control. */
  function rebuild(): void {
    const active = [...root.querySelectorAll<HTMLElement>("input, select, summary")];
    const at = active.indexOf(document.activeElement as HTMLElement);
    const open = root.querySelector("details")?.open ?? false;
    build();
    const seeds = root.querySelector("details");
    if (seeds) seeds.open = open;
    if (at >= 0) refocus([...root.querySelectorAll<HTMLElement>("input, select, summary")].at(at));
  }

  onTheme(rebuild);
  return {
    root,
    update(changed) {
      if (concerns(changed, "data", "x", "y", "colour")) rebuild();
    },
  };
}
