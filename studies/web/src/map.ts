// The risk–utility map: a canvas of points under an SVG of axes, brush and cursor.
import { brush as brushing2d, type BrushBehavior, type D3BrushEvent } from "d3-brush";
import { quadtree, type Quadtree } from "d3-quadtree";
import { select } from "d3-selection";
import { FILTERS, concerns, timed, type App, type Part } from "./app";
import { bottomAxis, leftAxis, scale, ticks, type Scale } from "./axes";
import { announce, button, h, refocus, replace, s } from "./dom";
import { exported, figure, type Entry } from "./figure";
import { axisTitle, num, short, withUnit } from "./format";
import { extent, staircase } from "./model";
import { CanvasPainter, RUN_SHAPES, SvgPainter, sized, type Painter, type Shape } from "./painter";
import { onTheme, seriesColour, theme } from "./theme";
import { BASELINE, DOMINATED, FRONT, KINDS, ORIGINAL, OWN_FRONT } from "./types";

const NEAR = 14; // pixels around the pointer in which a point is found
const NEAR_FINGER = 30;
const COINCIDENT = 2.5; // pixels between points that nobody can tell apart
const MOST_LISTED = 60;
const WORD = [46, 14]; // size of the label "original" in pixels
const AROUND: [number, number][] = [[1, 0], [-1, 0], [1, 1], [-1, 1], [0, 1], [1, -1], [-1, -1], [0, -1], [1, 0.5], [-1, 0.5], [1, -0.5], [-1, -0.5]];
const SHAPES: Shape[] = ["dot", "ring", "disc", "diamond", "square"];
const SIZES = [3, 3, 4, 6, 5.5];

interface Box {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function mapPart(app: App): Part {
  const { store } = app;
  const ground = h("canvas", { "aria-hidden": "true" }); // what a selection does not change
  const canvas = h("canvas", { "aria-hidden": "true" });
  const overlay = s("svg", { class: "overlay", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const list = h("div", { class: "tip list", hidden: true, role: "dialog", "aria-label": "Points in the same place" });
  const stage = h(
    "div",
    {
      class: "stage", tabindex: 0, role: "application", "aria-roledescription": "scatter chart",
      "aria-describedby": "map-keys",
    },
    ground,
    canvas,
    overlay,
    tip,
  );
  const { root, body } = figure("Risk–utility map", () => picture(), null, legend);
  root.classList.add("hero");
  body.append(
    h("div", { class: "around" }, stage, list),
    h(
      "p",
      { class: "hint", id: "map-keys" },
      "Drag to select a region (with a finger: first sideways); click or tap a point to read it, and a heap of points to see them listed. Keys: arrows walk through the points, Enter reads one, S puts it on the shortlist, Escape clears the selection.",
    ),
  );

  let box: Box = { width: 640, height: 420, left: 62, right: 14, top: 26, bottom: 46 };
  let x: Scale = scale([0, 1], [0, 1], false);
  let y: Scale = x;
  let tree: Quadtree<number> = quadtree<number>();
  let px = new Float64Array(0);
  let py = new Float64Array(0);
  let dragging = false;
  const brush = s("g", { class: "brush" });
  const cursor = s("circle", { class: "cursor", r: 9, visibility: "hidden" });
  const chosen = s("circle", { class: "chosen", r: 9, visibility: "hidden" });

  function layout(): void {
    const width = Math.max(280, body.clientWidth || 640);
    const narrow = width < 520;
    box = {
      width, height: narrow ? Math.round(width * 0.95) : Math.min(560, Math.max(380, Math.round(width * 0.6))),
      left: box.left, right: 14, top: 26, bottom: 46,
    };
    stage.style.height = `${box.height}px`;
  }

  /** With one objective the height is the rank: a strip on which equal values stand above each other. */
  const strip = (): boolean => app.model.axes.length === 1;

  function ranks(): Float64Array {
    const { model } = app;
    const order: number[] = [];
    for (let i = 0; i < model.n; i++) if (app.seen[i] && Number.isFinite(model.value(0, i))) order.push(i);
    const sign = model.axes[0].sense === "min" ? 1 : -1;
    order.sort((a, b) => sign * (model.value(0, a) - model.value(0, b)) || model.kind[b] - model.kind[a] || a - b);
    const out = new Float64Array(model.n).fill(NaN);
    order.forEach((i, at) => { out[i] = at + 1; });
    return out;
  }

  function visibleExtent(axis: number): [number, number] {
    const column = app.model.values[axis];
    const values: number[] = [];
    for (let i = 0; i < app.model.n; i++) if (app.seen[i] && Number.isFinite(column[i])) values.push(column[i]);
    return values.length ? extent(values) : app.model.extents[axis];
  }

  function place(): void {
    const { state } = store;
    const { model } = app;
    const ex = visibleExtent(state.x);
    const rank = strip() ? ranks() : null;
    const ey = rank === null ? visibleExtent(state.y) : extent(rank.filter((v) => !Number.isNaN(v)));
    y = scale(ey, rank === null ? [box.height - box.bottom, box.top] : [box.top, box.height - box.bottom], rank === null && state.logY);
    box.left = Math.max(40, 16 + 6.6 * Math.max(...ticks(y, 6).map((v) => num(v).length)));
    x = scale(ex, [box.left, box.width - box.right], state.logX);
    px = new Float64Array(model.n);
    py = new Float64Array(model.n);
    const inside: number[] = [];
    for (let i = 0; i < model.n; i++) {
      px[i] = x(model.value(state.x, i));
      py[i] = y(rank === null ? model.value(state.y, i) : rank[i]);
      if (app.seen[i] && Number.isFinite(px[i]) && Number.isFinite(py[i])) inside.push(i);
    }
    tree = quadtree<number>().x((i) => px[i]).y((i) => py[i]).addAll(inside);
  }

  function colourOf(i: number): string {
    const t = theme();
    const kind = app.model.kind[i];
    if (kind === BASELINE) return t.baseline;
    if (kind === ORIGINAL) return t.original;
    const { colour } = store.state;
    if (colour === "run") return seriesColour(app.model.run[i]);
    if (colour === "seed") {
      const { runs, points } = app.model.payload;
      return seriesColour(runs[points.run[i]].seeds.indexOf(points.seed[i]));
    }
    return kind === FRONT ? t.front : kind === OWN_FRONT ? t.own : t.dominated;
  }

  /** Lines behind the points. */
  function lines(painter: Painter): void {
    const { model, seen } = app;
    for (const v of ticks(y, 6)) painter.line([[box.left, y(v)], [box.width - box.right, y(v)]], theme().rule, 1, 0.5);
    const front = staircase(model, store.state.x, store.state.y, (i) => Boolean(seen[i]) && model.kind[i] === FRONT);
    const steps: [number, number][] = [];
    front.forEach((i, at) => {
      if (at > 0) steps.push([px[i], py[front[at - 1]]]);
      steps.push([px[i], py[i]]);
    });
    if (steps.length > 1 && !strip()) painter.line(steps, theme().front, 1.2, 0.45);
  }

  /** Points: the selected ones, or all as scenery behind them. */
  function marks(painter: Painter, vivid: boolean, which: (i: number) => boolean): void {
    const { model, seen } = app;
    const brushing = store.state.ranges.some((range) => range !== null);
    const alpha = vivid ? 1 : 0.13;
    for (let kind = DOMINATED; kind <= ORIGINAL; kind++) {
      for (let i = 0; i < model.n; i++) {
        if (!seen[i] || model.kind[i] !== kind || !which(i) || Number.isNaN(px[i] + py[i])) continue;
        const size = brushing && vivid && kind === DOMINATED ? SIZES[kind] + 1 : SIZES[kind];
        const several = model.payload.runs.length > 1 && (kind === FRONT || kind === OWN_FRONT);
        const shape = several ? RUN_SHAPES[model.run[i] % RUN_SHAPES.length] : SHAPES[kind];
        painter.mark(shape, px[i], py[i], colourOf(i), several ? 4.5 : size, alpha, kind === OWN_FRONT);
      }
    }
  }

  const vivid = (i: number): boolean => app.selected[i] === 1 || app.model.kind[i] === ORIGINAL;

  function title(axis: number): string {
    return axisTitle(app.model.axes[axis]);
  }

  function frame(): SVGElement[] {
    const { state } = store;
    const bottom = box.height - box.bottom;
    const right = box.width - box.right;
    const better = (axis: number): boolean => app.model.axes[axis].sense === "min";
    const most = Math.max(12, Math.floor((box.width - 150) / 8));
    return [
      leftAxis(y, box.left, [box.top, bottom], 6),
      bottomAxis(x, bottom, [box.left, right], box.width < 520 ? 4 : 8),
      s("text", { class: "title", x: right, y: box.height - 8, "text-anchor": "end" }, short(title(state.x), most)),
      s("text", { class: "way", x: box.left, y: box.height - 8 }, better(state.x) ? "← better" : "better →"),
      s("text", { class: "title", x: 4, y: 14 }, strip() ? "rank" : short(title(state.y), most)),
      s("text", { class: "way", x: right, y: 14, "text-anchor": "end" }, better(state.y) && !strip() ? "better ↓" : "better ↑"),
    ];
  }

  function labels(): SVGElement[] {
    const found: SVGElement[] = [];
    for (let i = 0; i < app.model.n; i++) {
      if (!app.seen[i] || app.model.kind[i] !== ORIGINAL || Number.isNaN(px[i] + py[i])) continue;
      const [x0, y0] = placed(i);
      const near = Math.abs(x0 - px[i] - WORD[0] / 2 - 10) < 1 && Math.abs(y0 - py[i]) < 1;
      const edge = (v: number, middle: number, half: number): number => Math.max(middle - half, Math.min(middle + half, v));
      const thread = s("line", { class: "thread", x1: px[i], y1: py[i], x2: edge(px[i], x0, WORD[0] / 2), y2: edge(py[i], y0, WORD[1] / 2) });
      found.push(...(near ? [] : [thread]), s("text", { class: "mark halo", x: x0, y: y0 + 4, "text-anchor": "middle" }, "original"));
    }
    return found;
  }

  /** Middle of the label of a point: of the places around it the nearest where it covers no other point. */
  function placed(i: number): [number, number] {
    const [w, t] = WORD.map((size) => size / 2);
    let [best, least]: [[number, number], number] = [[px[i] + w + 10, py[i]], Infinity];
    for (const far of [10, 22, 36, 54, 76]) {
      for (const [dx, dy] of AROUND) {
        const at: [number, number] = [px[i] + dx * (far + w), py[i] + dy * (far + t)];
        const out = at[0] - w < box.left + 2 || at[0] + w > box.width - box.right || at[1] - t < box.top - 4 || at[1] + t > box.height - box.bottom;
        if (out) continue;
        let covered = 0;
        for (let j = 0; j < app.model.n; j++) {
          if (j !== i && app.seen[j] && Math.abs(px[j] - at[0]) < w + 5 && Math.abs(py[j] - at[1]) < t + 5) covered += 1;
        }
        if (covered < least) [best, least] = [at, covered];
        if (least === 0) return best;
      }
    }
    return best;
  }

  const behaviour: BrushBehavior<unknown> = brushing2d()
    .on("start", () => { dragging = true; })
    .on("brush", (event: D3BrushEvent<unknown>) => { if (event.sourceEvent) brushed(event); })
    .on("end", (event: D3BrushEvent<unknown>) => {
      dragging = false;
      if (!event.sourceEvent) return; // the page moved it, not a person
      if (event.selection === null) drawBrush(); // a click: it decides by itself what becomes of the selection
      else {
        let within = 0;
        for (const one of app.selected) within += one;
        announce(`${within} points selected`);
      }
    });

  function brushed(event: D3BrushEvent<unknown>): void {
    const [[x0, y0], [x1, y1]] = event.selection as [[number, number], [number, number]];
    store.setHover(-1);
    const { x: ax, y: ay, ranges } = store.state;
    const span = (of: Scale, a: number, b: number): [number, number] => {
      const [low, high] = [of.invert(a), of.invert(b)];
      return low < high ? [low, high] : [high, low];
    };
    const next = [...ranges];
    next[ax] = span(x, x0, x1);
    if (ay !== ax) next[ay] = span(y, y0, y1);
    store.drag(next);
  }

  function drawBrush(): void {
    if (dragging) return;
    const { ranges, x: ax, y: ay } = store.state;
    const rx = ranges[ax];
    const ry = ax === ay ? null : ranges[ay];
    if (rx === null && ry === null) {
      select(brush).call((group) => { behaviour.move(group as never, null); });
      return;
    }
    const clampX = (v: number): number => Math.min(box.width - box.right, Math.max(box.left, v));
    const clampY = (v: number): number => Math.min(box.height - box.bottom, Math.max(box.top, v));
    const xs = rx === null ? [box.left, box.width - box.right] : rx.map((v) => clampX(Number.isFinite(v) ? (x(v) || 0) : v < 0 ? -1e9 : 1e9));
    const ys = ry === null ? [box.top, box.height - box.bottom] : ry.map((v) => clampY(Number.isFinite(v) ? (y(v) || 0) : v < 0 ? 1e9 : -1e9));
    const corners: [[number, number], [number, number]] = [[Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)]];
    select(brush).call((group) => { behaviour.move(group as never, corners); });
  }

  /** Tell the brush how large the map is. */
  function fitBrush(): void {
    behaviour.extent([[box.left, box.top], [box.width - box.right, box.height - box.bottom]]);
    select(brush).call(behaviour as never);
    brush.style.touchAction = "pan-y"; // a finger scrolls the page up and down, and selects when it goes sideways first
    for (const part of brush.querySelectorAll<SVGElement>("*")) part.style.touchAction = "pan-y";
  }

  function mark(circle: SVGCircleElement, i: number): void {
    const there = i >= 0 && i < px.length && Number.isFinite(px[i] + py[i]);
    circle.setAttribute("visibility", there ? "visible" : "hidden");
    if (there) {
      circle.setAttribute("cx", String(px[i]));
      circle.setAttribute("cy", String(py[i]));
    }
  }

  function points(): void {
    timed("map", () => { marks(new CanvasPainter(sized(canvas, box.width, box.height)), true, vivid); });
    drawBrush();
    mark(cursor, store.hover);
    mark(chosen, app.model.find(store.state.current));
  }

  function summary(): string {
    let total = 0;
    let within = 0;
    for (let i = 0; i < app.model.n; i++) {
      total += app.seen[i];
      within += app.selected[i];
    }
    const [ax, ay] = [app.model.axes[store.state.x], app.model.axes[store.state.y]];
    const way = (sense: string): string => (sense === "min" ? "smaller is better" : "larger is better");
    return `Risk–utility map: ${title(store.state.x)} (${way(ax.sense)}) across, ${strip() ? "its rank" : `${title(store.state.y)} (${way(ay.sense)})`} up; ${total} points, ${within} selected. The table below holds the same points.`;
  }

  function draw(): void {
    layout();
    place();
    overlay.setAttribute("width", String(box.width));
    overlay.setAttribute("height", String(box.height));
    overlay.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    replace(overlay, ...frame(), ...labels(), brush, chosen, cursor);
    fitBrush();
    list.hidden = true;
    stage.setAttribute("aria-label", summary());
    timed("ground", () => {
      const painter = new CanvasPainter(sized(ground, box.width, box.height));
      lines(painter);
      marks(painter, false, () => true);
    });
    points();
  }

  function picture(): SVGSVGElement {
    const copy = exported(overlay);
    const painter = new SvgPainter();
    lines(painter);
    marks(painter, false, (i) => !vivid(i));
    marks(painter, true, vivid);
    copy.insertBefore(painter.group, copy.children[1]);
    return copy;
  }

  function legend(): Entry[] {
    const { model } = app;
    const t = theme();
    const { colour } = store.state;
    const { runs } = model.payload;
    const seen = (wanted: number): boolean => model.kind.some((kind, i) => kind === wanted && app.seen[i] === 1);
    const plain = (wanted: number, shade: string): Entry[] => (seen(wanted) ? [{ text: KINDS[wanted], colour: shade, shape: SHAPES[wanted] }] : []);
    const ends = [...plain(BASELINE, t.baseline), ...plain(ORIGINAL, t.original)];
    if (runs.length > 1) {
      const shown = runs.flatMap((_, r) => (store.state.hiddenRuns.has(r) ? [] : [r]));
      return [...shown.map((r): Entry => ({ text: model.runName(r), colour: colour === "run" ? seriesColour(r) : t.front, shape: RUN_SHAPES[r % RUN_SHAPES.length] })), ...ends];
    }
    if (colour === "seed") {
      return [...runs[0].seeds.map((seed, at): Entry => ({ text: `seed ${seed}`, colour: seriesColour(at), shape: "disc" })), ...ends];
    }
    return [...plain(FRONT, t.front), ...plain(OWN_FRONT, t.own), ...plain(DOMINATED, t.dominated), ...ends];
  }

  // -- reading a point ---------------------------------------------------------------------------------------------

  function sentence(i: number): string {
    const values = app.model.axes.map((axis, a) => `${axis.label} ${withUnit(app.model.value(a, i), axis.unit)}`);
    return `${app.model.name(i)}, ${app.model.kindName(i)}: ${values.join("; ")}`;
  }

  let asked = "";
  function showTip(i: number): void {
    mark(cursor, i);
    if (i < 0 || Number.isNaN(px[i] + py[i])) {
      tip.hidden = true;
      return;
    }
    const { model } = app;
    const what = h("p", { class: "what" });
    const run = model.payload.runs.length > 1 ? `, ${short(model.runName(model.run[i]), 40)}` : "";
    const name = model.name(i);
    const kind = model.kindName(i);
    replace(
      tip,
      h("strong", {}, short(name, 50)),
      h("span", { class: "muted" }, ` ${model.kind[i] >= BASELINE ? "" : kind}${run}`),
      h(
        "dl",
        {},
        model.axes.map((axis, a) => [
          h("dt", {}, short(axis.label, 34)),
          h("dd", {}, withUnit(model.value(a, i), axis.unit)),
        ]),
      ),
      what,
    );
    tip.hidden = false;
    const key = model.keys[i];
    asked = key;
    void app.details.brief(key).then((lines) => {
      if (asked === key && lines.length > 0) what.textContent = short(lines[0], 220);
    });
    beside(tip, i);
  }

  /** Put a box beside a point, within the map. */
  function beside(element: HTMLElement, i: number): void {
    const wide = Math.min(300, box.width - 16);
    element.style.width = `${wide}px`;
    const at = px[i] + 16 + wide > box.width ? px[i] - wide - 16 : px[i] + 16;
    element.style.left = `${Math.max(4, Math.min(box.width - wide - 4, at))}px`;
    const below = py[i] <= box.height * 0.55;
    element.style.top = below ? `${Math.max(4, Math.min(box.height - 40, py[i] + 12))}px` : "auto";
    element.style.bottom = below ? "auto" : `${box.height - py[i] + 12}px`;
  }

  function nearest(event: MouseEvent): number {
    const around = stage.getBoundingClientRect();
    const finger = (event as PointerEvent).pointerType === "touch";
    return tree.find(event.clientX - around.left, event.clientY - around.top, finger ? NEAR_FINGER : NEAR) ?? -1;
  }

  /** Points that nobody can tell apart from this one, itself first, then those of the front. */
  function heap(i: number): number[] {
    const found: number[] = [];
    for (let j = 0; j < app.model.n; j++) {
      if (app.seen[j] && Math.hypot(px[j] - px[i], py[j] - py[i]) <= COINCIDENT) found.push(j);
    }
    return found.sort((a, b) => app.model.kind[b] - app.model.kind[a] || a - b);
  }

  /** Take a point in hand; where several lie on each other, ask which. */
  function choose(i: number): void {
    const found = heap(i);
    list.hidden = found.length < 2;
    if (found.length < 2) {
      store.set({ current: app.model.keys[i] });
      return;
    }
    const pick = (j: number): void => {
      list.hidden = true;
      store.set({ current: app.model.keys[j] });
      refocus(stage);
    };
    replace(
      list,
      h("strong", {}, `${found.length} points in the same place`),
      h("ul", {}, found.slice(0, MOST_LISTED).map((j) => h("li", {}, button(`${short(app.model.name(j), 40)}, ${app.model.kindName(j)}${app.model.payload.runs.length > 1 ? `, ${short(app.model.runName(app.model.run[j]), 30)}` : ""}`, () => { pick(j); }, { class: "link" })))),
      found.length > MOST_LISTED && h("p", { class: "muted" }, `and ${found.length - MOST_LISTED} more, in the table below`),
    );
    beside(list, i);
    tip.hidden = true;
    list.querySelector("button")?.focus({ preventScroll: true });
    announce(`${found.length} points in the same place`);
  }

  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    list.hidden = true;
    refocus(stage);
    event.preventDefault();
  });

  // -- pointer and keyboard ----------------------------------------------------------------------------------------

  stage.addEventListener("pointermove", (event) => { if (!dragging) store.setHover(nearest(event)); });
  stage.addEventListener("click", (event) => {
    const i = nearest(event);
    if (i >= 0) choose(i);
    else {
      list.hidden = true;
      if (store.state.ranges.some((range) => range !== null)) store.set({ ranges: store.state.ranges.map(() => null) });
    }
  });
  stage.addEventListener("pointerleave", () => { if (!dragging) store.setHover(-1); });
  stage.addEventListener("blur", () => { store.setHover(-1); });

  function walk(across: boolean, step: number): void {
    const at = store.hover >= 0 ? store.hover : app.model.find(store.state.current);
    const position = across ? px : py;
    const other = across ? py : px;
    const order: number[] = [];
    for (let i = 0; i < app.model.n; i++) {
      if (app.selected[i] && app.model.kind[i] > OWN_FRONT && Number.isFinite(px[i] + py[i])) order.push(i);
    }
    order.sort((a, b) => position[a] - position[b] || other[a] - other[b] || a - b);
    if (order.length === 0) {
      announce("no point is selected");
      return;
    }
    const where = order.indexOf(at);
    const next = where < 0 ? (step > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, where + step));
    store.setHover(order[next]);
    announce(`${next + 1} of ${order.length}: ${sentence(order[next])}`);
  }

  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, [boolean, number]> = {
      ArrowRight: [true, 1], ArrowLeft: [true, -1], ArrowUp: [false, -1], ArrowDown: [false, 1],
      Home: [true, -1e9], End: [true, 1e9],
    };
    if (Object.hasOwn(steps, event.key)) {
      walk(...steps[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (store.hover >= 0) store.set({ current: app.model.keys[store.hover] }); // the arrows walk through a heap one by one
    } else if (event.key.toLowerCase() === "s") {
      const i = store.hover >= 0 ? store.hover : app.model.find(store.state.current);
      if (i >= 0 && app.model.kind[i] === ORIGINAL) announce("the original table is no solution: it cannot be put on the shortlist");
      else if (i >= 0) {
        store.toggleShortlist(app.model.keys[i]);
        announce(`${app.model.name(i)} ${store.shortlisted(app.model.keys[i]) ? "is on" : "is off"} the shortlist`);
      }
    } else if (event.key === "Escape") {
      store.setHover(-1);
      list.hidden = true;
      store.set({ ranges: store.state.ranges.map(() => null) });
      announce("selection cleared");
    } else return;
    event.preventDefault();
  });

  store.onHover(showTip);
  onTheme(draw);
  new ResizeObserver(() => {
    if (body.clientWidth > 0 && Math.abs(body.clientWidth - box.width) > 1) draw();
  }).observe(body);

  return {
    root,
    follows: true,
    update(changed) {
      if (changed.size > 0 && [...changed].every((key) => key === "ranges" || key === "current")) {
        if (concerns(changed, "ranges") && !store.moving) stage.setAttribute("aria-label", summary());
        points();
      } else if (concerns(changed, "view", "x", "y", "logX", "logY", "colour", ...FILTERS) && store.state.view === "map") {
        draw();
      } else if (concerns(changed, "current")) mark(chosen, app.model.find(store.state.current));
    },
  };
}

