// Parallel coordinates: every objective an axis with its better end on top, every point a line.
import { brushY, type BrushBehavior, type D3BrushEvent } from "d3-brush";
import { select as on } from "d3-selection";
import { FILTERS, concerns, timed, type App, type Part } from "./app";
import { scale, ticks, type Scale } from "./axes";
import { button, h, replace, s } from "./dom";
import { exported, figure, type Entry } from "./figure";
import { num, short } from "./format";
import { skewed, type Range } from "./model";
import { CanvasPainter, SvgPainter, sized, type Painter } from "./painter";
import { onTheme, theme } from "./theme";
import { BASELINE, DOMINATED, KINDS, ORIGINAL } from "./types";

const TOP = 44;
const BOTTOM = 16;
const HEIGHT = 300;
const MOST_MOVING = 120; // lines while a region is dragged, spread evenly among the selected

export function parallelPart(app: App): Part {
  const { store } = app;
  const back = h("canvas", { "aria-hidden": "true" });
  const fore = h("canvas", { "aria-hidden": "true" });
  const overlay = s("svg", { class: "overlay", "aria-hidden": "true" });
  const stage = h("div", { class: "stage parallel" }, back, fore, overlay);
  const { root, body } = figure(
    "All objectives",
    () => picture(),
    "Every line is one solution; the better end of each axis is on top. Drag along an axis, or type a range below.",
    () => {
      const t = theme();
      const colours = [t.dominated, t.own, t.front, t.baseline, t.original];
      return KINDS.flatMap((text, kind): Entry[] => (app.model.kind.some((k, i) => k === kind && app.selected[i] === 1) ? [{ text, colour: colours[kind], shape: "line" }] : []));
    },
  );
  const inputs = h("fieldset", { class: "ranges" });
  body.append(stage, inputs);

  let width = 640;
  let scales: Scale[] = [];
  let xs: number[] = [];
  let brushes: { group: SVGGElement; behaviour: BrushBehavior<unknown> }[] = [];
  let dragging = false;
  const hovered = s("polyline", { class: "hovered", visibility: "hidden" });

  function place(): void {
    width = Math.max(280, body.clientWidth || 640);
    const n = app.model.axes.length;
    const side = Math.min(90, width / (2 * n));
    xs = app.model.axes.map((_, a) => (n === 1 ? width / 2 : side + ((width - 2 * side) * a) / (n - 1)));
    scales = app.model.axes.map((axis, a) => {
      const range: [number, number] = axis.sense === "max" ? [HEIGHT - BOTTOM, TOP] : [TOP, HEIGHT - BOTTOM];
      return scale(app.model.extents[a], range, logarithmic(a), 0.02);
    });
  }

  /** An axis that the map shows has its scale; another one the scale that suits its values. */
  function logarithmic(a: number): boolean {
    const { x, y, logX, logY } = store.state;
    return a === x ? logX : a === y ? logY : skewed(app.model, a);
  }

  // The more lines there are, the fainter each one is.
  function opacity(kind: number): number {
    let many = 0;
    for (let i = 0; i < app.model.n; i++) if (app.model.kind[i] === kind) many += 1;
    const least = [0.05, 0.15, 0.75, 1, 1][kind];
    const most = [0.3, 0.9, 1, 1, 1][kind];
    return Math.max(least, Math.min(most, 120 / Math.max(1, many)));
  }

  function faint(): number {
    return Math.max(0.03, Math.min(0.12, 100 / Math.max(1, app.model.n)));
  }

  function lines(painter: Painter, which: (i: number) => boolean, vivid: boolean): void {
    const t = theme();
    const colours = [t.dominated, t.own, t.front, t.baseline, t.original];
    for (let kind = DOMINATED; kind <= ORIGINAL; kind++) {
      const alpha = vivid ? opacity(kind) : faint();
      for (let i = 0; i < app.model.n; i++) {
        if (app.model.kind[i] !== kind || !which(i)) continue;
        const points: [number, number][] = [];
        for (let a = 0; a < xs.length; a++) {
          const value = app.model.values[a][i];
          if (!Number.isNaN(value)) points.push([xs[a], scales[a](value)]);
        }
        painter.line(points, vivid ? colours[kind] : t.dominated, kind >= BASELINE && vivid ? 1.6 : 1, alpha);
      }
    }
  }

  // Thousands of lines in one frame would stutter: the vivid ones are drawn over as many frames as they need.
  let job = 0;
  function foreground(): void {
    job += 1;
    const mine = job;
    const context = sized(fore, width, HEIGHT);
    const painter = new CanvasPainter(context);
    const chosen: number[] = [];
    for (const wanted of [DOMINATED, -1]) {
      for (let i = 0; i < app.model.n; i++) {
        if (app.selected[i] && (app.model.kind[i] === DOMINATED) === (wanted === DOMINATED)) chosen.push(i);
      }
    }
    if (store.moving && chosen.length > MOST_MOVING) {
      const few = Array.from({ length: MOST_MOVING }, (_, i) => chosen[Math.floor((i * chosen.length) / MOST_MOVING)]);
      batch(painter, new Set(few));
      return;
    }
    let at = 0;
    const some = (): void => {
      if (mine !== job) return;
      const start = performance.now();
      while (at < chosen.length && performance.now() - start < 8) {
        const part = new Set(chosen.slice(at, at + 150));
        at += 150;
        batch(painter, part);
      }
      if (at < chosen.length) requestAnimationFrame(some);
    };
    some();
  }

  function batch(painter: Painter, part: Set<number>): void {
    const t = theme();
    const colours = [t.dominated, t.own, t.front, t.baseline, t.original];
    const alphas = colours.map((_, kind) => opacity(kind));
    for (const i of part) {
      const kind = app.model.kind[i];
      const points: [number, number][] = [];
      for (let a = 0; a < xs.length; a++) {
        const value = app.model.values[a][i];
        if (!Number.isNaN(value)) points.push([xs[a], scales[a](value)]);
      }
      painter.line(points, colours[kind], kind >= BASELINE ? 1.6 : 1, alphas[kind]);
    }
  }

  function background(): void {
    timed("parallel", () => {
      lines(new CanvasPainter(sized(back, width, HEIGHT)), (i) => Boolean(app.seen[i]), false);
    });
  }

  function frame(): void {
    overlay.setAttribute("width", String(width));
    overlay.setAttribute("height", String(HEIGHT));
    overlay.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    brushes = [];
    const room = xs.length > 1 ? xs[1] - xs[0] : width;
    const groups = app.model.axes.map((axis, a) => {
      const brush = s("g", { class: "brush" });
      const behaviour = brushY()
        .extent([[xs[a] - 14, TOP - 6], [xs[a] + 14, HEIGHT - BOTTOM + 6]])
        .on("start", () => { dragging = true; })
        .on("brush end", (event: D3BrushEvent<unknown>) => {
          dragging = event.type !== "end";
          if (event.sourceEvent) brushed(a, event.selection as [number, number] | null);
        });
      on(brush).call(behaviour as never);
      brushes.push({ group: brush, behaviour });
      const last = a === xs.length - 1 && xs.length > 1;
      const title = short(room < 150 ? axis.name : axis.label, Math.floor(room / 7));
      const half = Math.min(4 * title.length, width / 2); // of its length, so that none is cut at the edge
      const group = s(
        "g",
        { class: "axis" },
        s("line", { x1: xs[a], x2: xs[a], y1: TOP, y2: HEIGHT - BOTTOM }),
        ticks(scales[a], 5).map((v) =>
          s(
            "g",
            { transform: `translate(${xs[a]} ${scales[a](v)})` },
            s("line", { x2: last ? 5 : -5 }),
            s("text", { class: "halo", x: last ? 8 : -8, dy: "0.32em", "text-anchor": last ? "start" : "end" }, num(v)),
          ),
        ),
        s("text", { class: "title", x: Math.max(half, Math.min(xs[a], width - half)), y: 14, "text-anchor": "middle" }, title),
        s("text", { class: "way", x: xs[a], y: 30, "text-anchor": "middle" }, axis.unit && room >= 150 ? `${short(axis.unit, 12)} · better ↑` : "better ↑"),
        brush,
      );
      return group;
    });
    replace(overlay, hovered, ...groups);
  }

  function brushed(a: number, selection: [number, number] | null): void {
    if (selection === null) {
      store.setRange(a, null);
      return;
    }
    const ends = selection.map((at) => scales[a].invert(Math.max(TOP - 4, Math.min(HEIGHT - BOTTOM + 4, at)))).sort((p, q) => p - q);
    store.drag(store.state.ranges.map((old, other) => (other === a ? [ends[0], ends[1]] : old)));
  }

  function drawBrushes(): void {
    if (dragging) return;
    store.state.ranges.forEach((range, a) => {
      const { group, behaviour } = brushes[a];
      const limit = (v: number): number => Math.max(TOP - 6, Math.min(HEIGHT - BOTTOM + 6, v));
      const at = range?.map((v, end) => limit(scales[a](Number.isFinite(v) ? v : app.model.extents[a][end]) || 0));
      const low = at === undefined ? 0 : Math.min(...at);
      const selection: [number, number] | null = at === undefined ? null : [low, Math.max(low + 2, ...at)];
      on(group).call((chosen) => { behaviour.move(chosen as never, selection); });
    });
  }

  // -- the same ranges as numbers ----------------------------------------------------------------------------------

  const fields: [HTMLInputElement, HTMLInputElement][] = [];
  const clearAll = button("Clear all ranges", () => { store.set({ ranges: app.model.axes.map(() => null) }); }, { class: "quiet" });
  const tally = h("span", { class: "muted" });

  function buildInputs(): void {
    fields.length = 0;
    replace(
      inputs,
      h("legend", {}, "Selected ranges"),
      app.model.axes.map((axis, a) => {
        const field = (end: 0 | 1): HTMLInputElement =>
          h("input", {
            type: "number", step: "any", inputmode: "decimal", placeholder: rounded(app.model.extents[a][end], end),
            "aria-label": `${short(axis.label, 60)}, ${end === 0 ? "at least" : "at most"}`,
            onchange: () => { typed(a); },
          });
        const pair: [HTMLInputElement, HTMLInputElement] = [field(0), field(1)];
        fields.push(pair);
        return h("div", { class: "range" }, h("span", { class: "name" }, short(axis.label, 40)), pair[0], h("span", {}, "to"), pair[1], axis.unit && h("span", { class: "muted" }, short(axis.unit, 12)));
      }),
      h("div", { class: "range" }, clearAll, tally),
    );
  }

  function typed(a: number): void {
    const [low, high] = fields[a].map((field) => (field.value.trim() === "" ? null : Number(field.value)));
    if (low === null && high === null) store.setRange(a, null);
    else {
      const range: Range = [low ?? -Infinity, high ?? Infinity];
      store.setRange(a, range[0] <= range[1] ? range : [range[1], range[0]]);
    }
  }

  let told = 0;
  function showRanges(): void {
    if (store.moving && performance.now() - told < 100) return; // nobody reads numbers faster than that
    told = performance.now();
    let seen = 0;
    let within = 0;
    for (let i = 0; i < app.model.n; i++) {
      seen += app.seen[i];
      within += app.selected[i];
    }
    const any = store.state.ranges.some((range) => range !== null);
    tally.textContent = any ? `${within} of ${seen} points selected` : `${seen} points, no range set`;
    clearAll.disabled = !any;
    store.state.ranges.forEach((range, a) => {
      for (const end of [0, 1] as const) {
        const field = fields[a][end];
        const value = range?.[end];
        if (document.activeElement !== field || value === undefined) {
          field.value = value === undefined || !Number.isFinite(value) ? "" : rounded(value, end);
        }
        field.classList.toggle("set", value !== undefined);
      }
    });
  }

  function select(): void {
    showRanges();
    drawBrushes();
    const any = store.state.ranges.some((range) => range !== null);
    back.style.opacity = any ? "1" : "0";
    foreground();
  }

  function draw(): void {
    place();
    stage.style.height = `${HEIGHT}px`;
    frame();
    background();
    select();
  }

  function picture(): SVGSVGElement {
    const copy = exported(overlay);
    const painter = new SvgPainter();
    if (store.state.ranges.some((range) => range !== null)) lines(painter, (i) => Boolean(app.seen[i]), false);
    lines(painter, (i) => Boolean(app.selected[i]), true);
    copy.insertBefore(painter.group, copy.children[1]);
    return copy;
  }

  store.onHover((i) => {
    if (i < 0 || xs.length === 0) {
      hovered.setAttribute("visibility", "hidden");
      return;
    }
    const text = xs.map((at, a) => `${at},${scales[a](app.model.value(a, i))}`);
    if (text.some((point) => point.includes("NaN"))) return;
    hovered.setAttribute("points", text.join(" "));
    hovered.setAttribute("visibility", "visible");
  });
  onTheme(draw);
  new ResizeObserver(() => {
    if (body.clientWidth > 0 && Math.abs(body.clientWidth - width) > 1) draw();
  }).observe(body);
  buildInputs();

  return {
    root,
    follows: true,
    update(changed) {
      if (changed.size > 0 && [...changed].every((key) => key === "ranges")) select();
      else if (concerns(changed, "view", "x", "y", "logX", "logY", ...FILTERS) && store.state.view === "map") draw();
    },
  };
}

/** Four digits, rounded outwards so that the end itself stays selected. */
export function rounded(value: number, end: 0 | 1): string {
  if (value === 0) return "0";
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3);
  const whole = end === 0 ? Math.floor(value / unit + 1e-9) : Math.ceil(value / unit - 1e-9);
  return String(Number((whole * unit).toPrecision(12)));
}
