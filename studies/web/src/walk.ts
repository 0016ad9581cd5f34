// A walk through the lattice: one level more or less at a time, seen moving among the solutions.
import type { App } from "./app";
import { scale } from "./axes";
import { announce, button, h, replace, s, type Child } from "./dom";
import { num, short, visible, withUnit } from "./format";
import { commands } from "./home";
import { verdict, type Step } from "./lattice";
import { keyOf, splitKey } from "./model";
import { BASELINE, FRONT, type LatticePicture } from "./types";

interface Node {
  x: number[];
  /** The solution of the run that is this node, if it has measured it. */
  id: string;
  /** Its name, by which it is released all the same. */
  node: string;
  values: (number | null)[];
  sentences: string[];
  picture: LatticePicture;
}

const WORDS: Record<string, string> = { "-1": "worse", "0": "equal", "1": "better in all", "2": "trade-off" };
const [WIDTH, HEIGHT, SIDE] = [340, 250, 34];

/** Begins at a solution; needs the server, which measures whatever the run has not. */
export function walkSection(app: App, key: string): { root: HTMLElement; step: Step } {
  const [run, ident] = splitKey(key);
  const live = app.live!;
  const { model, store } = app;
  const senses = model.axes.map((axis) => axis.sense);
  const body = h("div", {});
  const map = s("svg", { class: "walkmap", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const trail = s("polyline", { class: "trail" });
  const here = s("circle", { class: "here", r: 7 });
  const path: [number, number][] = [];
  const { x, y } = store.state;

  const of = (a: number, range: [number, number], log: boolean): ((value: number) => number) => {
    const [low, high] = model.extents[a];
    return scale([low, high], range, log && low > 0, 0.04);
  };
  const across = of(x, [SIDE, WIDTH - 12], store.state.logX);
  const up = of(y, [HEIGHT - SIDE, 16], store.state.logY);
  const dots: SVGElement[] = [];
  for (let i = 0; i < model.n; i++) {
    if (model.run[i] !== run || (model.kind[i] !== FRONT && model.kind[i] !== BASELINE)) continue;
    const [p, q] = [model.value(x, i), model.value(y, i)];
    if (Number.isFinite(p) && Number.isFinite(q)) dots.push(s("circle", { class: model.kind[i] === FRONT ? "point" : "point baseline", cx: across(p), cy: up(q), r: 3.5 }));
  }
  replace(map,
    s("line", { class: "base", x1: SIDE, x2: WIDTH - 12, y1: HEIGHT - SIDE, y2: HEIGHT - SIDE }), s("line", { class: "base", x1: SIDE, x2: SIDE, y1: 16, y2: HEIGHT - SIDE }),
    s("text", { class: "value", x: WIDTH - 12, y: HEIGHT - 12, "text-anchor": "end" }, short(model.axes[x].label, 40)),
    s("text", { class: "value", x: 4, y: 11 }, short(model.axes[y].label, 40)),
    ...dots, trail, here);

  const last: { node: Node | null } = { node: null };
  async function go(query: string, focus: string | null): Promise<void> {
    try {
      const answer = await live.ask(`api/node?run=${run}&${query}`);
      last.node = (await answer.json()) as Node;
      show(last.node, focus);
    } catch (error) {
      replace(body, h("p", { class: "notice" }, error instanceof Error ? visible(error.message) : "the node could not be measured"));
    }
  }

  /** What a node is that the run has not measured: it can be released as well, unless a solution is better anyway. */
  function unmeasured(node: Node): Child {
    const { values } = node;
    const release = h("div", {}, button("Release this node", () => {
      replace(release, h("p", { class: "hint" }, "By the same rules as a solution of the run; the certificate says that it was walked to."), commands(app, keyOf(run, node.node)));
      release.querySelector("button")?.focus();
    }, { "data-action": "release-node" }));
    let better = -1;
    for (let i = 0; i < model.n && better < 0; i++) {
      if (model.run[i] !== run || model.kind[i] !== FRONT || !model.usable[i]) continue;
      if ([0, 1].includes(verdict(senses, values, model.axes.map((_, a) => model.value(a, i))))) better = i;
    }
    return [
      h("p", { class: "muted" }, "The run has not measured this node: it was measured now."),
      better >= 0
        ? h("p", {}, "It is not needed: a solution of the run is as good or better in everything. ", button(`Open ${short(model.name(better), 60)}`, () => { store.set({ current: model.keys[better] }); }, { class: "link" }))
        : h("p", {}, "Nothing that the run has found is as good in everything."),
      release,
    ];
  }

  function show(node: Node, focus: string | null): void {
    const { picture } = node;
    const [p, q] = [node.values[x], node.values[y]];
    if (p !== null && q !== null) {
      const at: [number, number] = [across(p), up(q)];
      path.push(at);
      here.style.setProperty("cx", `${at[0]}px`);
      here.style.setProperty("cy", `${at[1]}px`);
      trail.setAttribute("points", path.map((one) => one.map((v) => v.toFixed(1)).join(",")).join(" "));
    }
    const said = model.axes.map((axis, a) => `${short(axis.label, 40)} ${withUnit(node.values[a], axis.unit)}`).join(" · ");
    map.setAttribute("aria-label", `Place of the node among the solutions: ${said}`);
    const step = (a: number, way: 1 | -1): HTMLElement => {
      const to = picture.neighbours.find((n) => n.attribute === a && n.step === way);
      const attribute = picture.attributes[a];
      const name = `step-${a}-${way}`;
      const sign = way > 0 ? "+" : "−";
      if (to === undefined) return h("span", { class: "muted" }, way > 0 ? "as far as it goes" : "as it is");
      const next = [...node.x];
      next[a] += way;
      const verb = verdict(senses, node.values, to.values);
      const made = button(`${sign} ${short(attribute.levels[attribute.level + way], 28)}`, () => { void go(`x=${next.join(",")}`, name); }, {
        "data-step": name, class: `step v${verb}`, "aria-label": `${sign} ${short(attribute.levels[attribute.level + way], 28)}; ${short(attribute.name, 40)}, ${way > 0 ? "one level more" : "one level less"}, ${WORDS[String(verb)]}`,
      });
      return h("div", {}, made, h("span", { class: "hint" }, `${model.axes.map((axis, b) => `${short(axis.name, 14)} ${num(to.values[b])}`).join(", ")}: ${WORDS[String(verb)]}`));
    };
    const known = node.id === "" ? null : keyOf(run, node.id);
    replace(
      body,
      h("p", {}, said),
      known === null ? unmeasured(node) : h("p", { class: "muted" }, known === key && path.length === 1 ? "Here the walk begins." : `This is solution ${short(node.id, 60)} of the run. `,
        known !== key && model.find(known) >= 0 && button("Open it", () => { store.set({ current: known }); }, { class: "link" })),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Steps" }, h("table", { class: "steps" },
        h("thead", {}, h("tr", {}, ["Attribute", "One level less", "Now", "One level more"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, picture.attributes.map((attribute, a) => h("tr", {},
          h("th", { scope: "row" }, short(attribute.name, 30)), h("td", {}, step(a, -1)),
          h("td", {}, short(attribute.levels[attribute.level], 40)), h("td", {}, step(a, 1))))))),
      path.length > 1 && button("Back to where the walk began", () => {
        path.length = 0;
        void go(`id=${encodeURIComponent(ident)}`, null);
      }, { class: "quiet" }),
    );
    if (focus !== null) {
      announce(said);
      const opposite = focus.endsWith("--1") ? focus.replace("--1", "-1") : focus.replace(/-1$/, "--1");
      (body.querySelector<HTMLElement>(`[data-step="${focus}"]`) ?? body.querySelector<HTMLElement>(`[data-step="${opposite}"]`))?.focus();
    }
  }

  async function begin(): Promise<void> {
    start.remove();
    replace(body, h("p", { class: "muted" }, "Measuring …"));
    root.append(h("div", { class: "walking" }, map, body));
    await go(`id=${encodeURIComponent(ident)}`, null);
  }
  const start = button("Walk from here", () => { void begin(); });
  const root = h("section", { class: "walk", "aria-label": "Walk the lattice" }, h("h3", {}, "Walk the lattice"),
    h("p", { class: "hint" }, "Take one level more or less of an attribute, and see where that leads; what the run has not measured is measured now."), start);
  return {
    root,
    step(attribute, way) {
      root.scrollIntoView({ block: "nearest" });
      // The picture shows the node at which the walk begins, wherever it is by now.
      void (start.isConnected ? begin() : go(`id=${encodeURIComponent(ident)}`, null)).then(() => {
        if (last.node === null) return;
        const next = [...last.node.x];
        next[attribute] += way;
        void go(`x=${next.join(",")}`, `step-${attribute}-${way}`);
      });
    },
  };
}
