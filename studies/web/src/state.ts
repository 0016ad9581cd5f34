// What the reader has chosen, who wants to hear of it, and its short form for the URL's fragment.
import { roles } from "./choice";
import type { Range } from "./model";
import type { Axis } from "./types";

export type View = "map" | "solution" | "compare" | "progress" | "decide" | "home";
export const VIEWS: readonly View[] = ["map", "solution", "compare", "progress", "decide", "home"];
export type Colour = "kind" | "run" | "seed";

export interface State {
  view: View;
  x: number;
  y: number;
  logX: boolean;
  logY: boolean;
  dominated: boolean;
  own: boolean;
  baselines: boolean;
  original: boolean;
  usable: boolean;
  hiddenRuns: ReadonlySet<number>;
  hiddenSeeds: ReadonlySet<number>;
  ranges: readonly Range[];
  colour: Colour;
  current: string | null;
  shortlist: ReadonlyMap<string, string>;
  compare: readonly string[];
  sort: string;
  descending: boolean;
}

export function initial(axes: Axis[]): State {
  const [safety, use] = roles(axes); // loss across, risk up, in whatever order the objectives stand
  return {
    view: "map", x: Math.max(0, use), y: Math.max(0, safety), logX: false, logY: false,
    dominated: true, own: true, baselines: true, original: true, usable: true,
    hiddenRuns: new Set(), hiddenSeeds: new Set(), ranges: axes.map(() => null), colour: "kind",
    current: null, shortlist: new Map(), compare: [], sort: axes[0].name, descending: axes[0].sense === "max",
  };
}

type Listener = (changed: ReadonlySet<keyof State>) => void;

/** Changes are collected and told once per frame, however many there were. */
export class Store {
  private readonly listeners: Listener[] = [];
  private readonly changed = new Set<keyof State>();
  private readonly hovering: ((i: number) => void)[] = [];
  private waiting = false;
  private at = -1;
  private rest = 0;
  /** Whether a region is being dragged: its ranges change in every frame, and whatever is slow waits until it rests. */
  moving = false;

  constructor(public state: State) {}

  set(patch: Partial<State>): void {
    for (const key of Object.keys(patch) as (keyof State)[]) {
      if (!Object.is(this.state[key], patch[key])) this.changed.add(key);
    }
    this.state = { ...this.state, ...patch };
    if (this.changed.size > 0) this.tell();
  }

  private tell(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const changed = new Set(this.changed);
      this.changed.clear();
      for (const listener of this.listeners) listener(changed);
    });
  }

  /** Ranges of a region under the pointer; they are told once more when it rests. */
  drag(ranges: readonly Range[]): void {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.moving = false;
      this.changed.add("ranges");
      this.tell();
    }, REST) as unknown as number;
    this.set({ ranges });
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** The point under the pointer or the keyboard's cursor; -1 for none. */
  get hover(): number {
    return this.at;
  }

  setHover(i: number): void {
    if (i === this.at) return;
    this.at = i;
    for (const listener of this.hovering) listener(i);
  }

  onHover(listener: (i: number) => void): void {
    this.hovering.push(listener);
  }

  setRange(axis: number, range: Range): void {
    this.set({ ranges: this.state.ranges.map((old, a) => (a === axis ? range : old)) });
  }

  shortlisted(key: string): boolean {
    return this.state.shortlist.has(key);
  }

  /** Put on the shortlist, or take off; the original table is no solution and stays off. */
  toggleShortlist(key: string): void {
    if (isOriginal(key)) return;
    const shortlist = new Map(this.state.shortlist);
    if (!shortlist.delete(key)) shortlist.set(key, "");
    this.set({ shortlist, compare: this.state.compare.filter((k) => shortlist.has(k)) });
  }

  note(key: string, text: string): void {
    const shortlist = new Map(this.state.shortlist);
    shortlist.set(key, text.slice(0, MOST_NOTE));
    this.set({ shortlist });
  }

  toggleCompare(key: string): void {
    const { compare } = this.state;
    if (compare.includes(key)) this.set({ compare: compare.filter((k) => k !== key) });
    else if (compare.length < MOST_COMPARED) {
      if (!this.shortlisted(key)) this.toggleShortlist(key);
      this.set({ compare: [...compare, key] });
    }
  }
}

const REST = 120; // milliseconds without a movement
export const MOST_COMPARED = 4;
export const MOST_NOTE = 2000;
const MOST_SHORTLIST = 200;
const FLAGS = ["logX", "logY", "dominated", "own", "baselines", "original", "usable"] as const;

/** The state as a fragment; what is as it was at first is left out. */
export function toFragment(state: State, axes: Axis[], withShortlist: boolean): string {
  const first = initial(axes);
  const out = new URLSearchParams();
  if (state.view !== first.view) out.set("v", state.view);
  if (state.x !== first.x) out.set("x", axes[state.x].name);
  if (state.y !== first.y) out.set("y", axes[state.y].name);
  for (const flag of FLAGS) {
    if (state[flag] !== first[flag] || flag.startsWith("log")) out.set(flag, state[flag] ? "1" : "0");
  }
  out.set("colour", state.colour);
  state.ranges.forEach((range, a) => {
    if (range !== null) out.append("r", `${a},${range[0]},${range[1]}`);
  });
  if (state.current !== null) out.set("c", state.current);
  if (withShortlist) for (const [key, note] of state.shortlist) out.append("s", note ? `${key}|${note}` : key);
  for (const key of state.compare) out.append("m", key);
  return out.toString();
}

/** Read a fragment; whatever it does not understand (it may be a stranger's) stays as it was at first. */
export function fromFragment(fragment: string, axes: Axis[]): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = initial(axes);
  const view = given.get("v");
  if (VIEWS.includes(view as View)) state.view = view as View;
  for (const side of ["x", "y"] as const) {
    const position = axes.findIndex((axis) => axis.name === given.get(side));
    if (position >= 0) state[side] = position;
  }
  for (const flag of FLAGS) if (given.has(flag)) state[flag] = given.get(flag) === "1";
  const colour = given.get("colour");
  if (colour === "run" || colour === "seed" || colour === "kind") state.colour = colour;
  const ranges = [...state.ranges];
  for (const text of given.getAll("r")) {
    const [axis, low, high] = text.split(",").map(Number);
    if (Number.isInteger(axis) && axis >= 0 && axis < axes.length && low <= high) ranges[axis] = [low, high];
  }
  state.ranges = ranges;
  state.current = key(given.get("c"));
  const shortlist = new Map<string, string>();
  for (const text of given.getAll("s").slice(0, MOST_SHORTLIST)) {
    const at = text.indexOf("|");
    const name = key(at < 0 ? text : text.slice(0, at));
    if (name !== null && !isOriginal(name)) shortlist.set(name, at < 0 ? "" : text.slice(at + 1, at + 1 + MOST_NOTE));
  }
  state.shortlist = shortlist;
  // The shortlist may be kept elsewhere: whoever reads this puts the two together.
  state.compare = given.getAll("m").filter((k) => key(k) !== null && !isOriginal(k)).slice(0, MOST_COMPARED);
  return state;
}

function key(text: string | null): string | null {
  return text !== null && /^\d+:[^|]{1,300}$/.test(text) ? text : null;
}

export function isOriginal(key: string): boolean {
  return key.endsWith(":original");
}

/** What a fragment does not say stays as it is when the browser goes back and forth. */
export const UNSAID = ["hiddenRuns", "hiddenSeeds", "sort", "descending"] as const;
