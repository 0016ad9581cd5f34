// Three candidates out of a front, and what a step from one to the next costs. Values in, numbers and words out.
import { num } from "./format";
import type { Range } from "./model";
import type { Axis } from "./types";

export interface Step {
  to: number;
  /** Values of the objective of protection, then of usefulness, before and after. */
  safety: [number, number];
  use: [number, number];
}

export interface Candidate {
  name: "Safest" | "Balanced" | "Most useful" | "Best";
  point: number;
  safer: Step | null;
  freer: Step | null;
}

/** Which objective stands for protection and which for usefulness, by what each says that it concerns. */
export function roles(axes: readonly Axis[]): [number, number] {
  const first = (concerns: string): number => axes.findIndex((axis) => axis.concerns === concerns);
  let [safety, use] = [first("risk"), first("loss")];
  // Objectives that say nothing: what is wanted large protects in all tasks that there were before they said it.
  if (safety < 0) safety = axes.findIndex((axis, a) => a !== use && axis.sense === "max");
  if (safety < 0) safety = axes.findIndex((_, a) => a !== use);
  if (use < 0) use = axes.findIndex((axis, a) => a !== safety && axis.sense === "min");
  if (use < 0) use = axes.findIndex((_, a) => a !== safety);
  return [safety, use];
}

/** Whether a value is the worst that an objective can have: then nobody is protected, or nothing is left of the data. */
export function worthless(axis: Axis, value: number): boolean {
  if (axis.concerns === "risk" && axis.sense === "max" && axis.unit === "records") return value <= 1; // its bound may be the study's own
  const worst = axis.sense === "max" ? axis.bounds[0] : axis.bounds[1];
  return axis.concerns !== "" && worst !== null && value === worst;
}

/** Points that no other one beats in two objectives, the safest last; of equal ones the first. */
export function stairs(values: readonly ArrayLike<number>[], axes: readonly Axis[], [safety, use]: [number, number], among: readonly number[]): number[] {
  const [p, q] = [badness(axes[safety], values[safety]), badness(axes[use], values[use])];
  const order = among.filter((i) => Number.isFinite(p(i)) && Number.isFinite(q(i))).sort((a, b) => q(a) - q(b) || p(a) - p(b) || a - b);
  const kept: number[] = [];
  for (const i of order) if (kept.length === 0 || p(i) < p(kept[kept.length - 1])) kept.push(i);
  return kept;
}

function badness(axis: Axis, column: ArrayLike<number>): (i: number) => number {
  return axis.sense === "min" ? (i) => column[i] : (i) => -column[i];
}

const NOTABLE = 0.08; // of the stairs' height: smaller steps say little
const FEW = 10;

export function candidates(values: readonly ArrayLike<number>[], axes: readonly Axis[], chosen: [number, number], among: readonly number[]): Candidate[] {
  const [safety, use] = chosen;
  if (use < 0 || safety < 0 || safety === use) {
    const only = safety < 0 ? use : safety;
    const p = badness(axes[only], values[only]);
    const best = among.reduce((a, i) => (a < 0 || p(i) < p(a) ? i : a), -1);
    return best < 0 ? [] : [{ name: "Best", point: best, safer: null, freer: null }];
  }
  const steps = stairs(values, axes, chosen, among);
  if (steps.length === 0) return [];
  const last = steps.length - 1;
  const height = heights(steps, values[safety]);
  const [p, q] = [badness(axes[safety], height), badness(axes[use], Float64Array.from(steps, (i) => values[use][i]))];
  const step = (from: number, way: 1 | -1): Step | null => {
    let to = from + way;
    if (to < 0 || to > last) return null;
    const size = (at: number): number => Math.abs(p(at) - p(from)) / Math.abs(p(0) - p(last));
    while (last >= FEW && size(to) < NOTABLE && to + way >= 0 && to + way <= last) to += way;
    const pair = (a: number): [number, number] => [values[a][steps[from]], values[a][steps[to]]];
    return { to: steps[to], safety: pair(safety), use: pair(use) };
  };
  const candidate = (name: Candidate["name"], at: number): Candidate => ({ name, point: steps[at], safer: step(at, 1), freer: step(at, -1) });
  if (last === 0) return [candidate("Best", 0)];
  // The knee is the point that lies farthest below the straight line between both ends.
  let knee = -1;
  let depth = -Infinity;
  for (let at = 1; at < last; at++) {
    const below = 1 - (p(at) - p(last)) / (p(0) - p(last)) - (q(at) - q(0)) / (q(last) - q(0));
    if (below > depth) [knee, depth] = [at, below];
  }
  return [candidate("Safest", last), ...(knee < 0 ? [] : [candidate("Balanced", knee)]), candidate("Most useful", 0)];
}

/** Group sizes are crowded at one end: there it is their logarithm that has a knee. */
function heights(steps: readonly number[], column: ArrayLike<number>): Float64Array {
  const raw = Float64Array.from(steps, (i) => column[i]);
  const [low, high] = [Math.min(...raw), Math.max(...raw)];
  return low > 0 && high / low >= 20 ? raw.map(Math.log) : raw;
}

/** An objective in a sentence: without the unit and the abbreviation that its label repeats. */
export function called(axis: Axis): string {
  return axis.label.replace(/\s*\([^()]{1,8}\)/, "").replace(/ in percent$/, "");
}

/** A number in a sentence: three digits are enough. */
export function rough(value: number): string {
  return num(Math.abs(value) < 1000 ? Number(value.toPrecision(3)) : Math.round(value));
}

export function amount(value: number, axis: Axis): string {
  return axis.unit ? `${rough(value)}\u00a0${value === 1 && axis.unit === "records" ? "record" : axis.unit}` : rough(value);
}

/** A difference of values in words: percentages differ by points, what has a largest value by a part of it as well. */
export function difference(a: number, b: number, axis: Axis): string {
  const gap = Math.abs(a - b);
  const [low, high] = axis.bounds;
  if (axis.unit === "%") return `${rough(gap)} ${gap === 1 ? "point" : "points"} of ${called(axis)}`;
  const part = low !== null && high !== null && high > low ? ` (${num(Number(((100 * gap) / (high - low)).toPrecision(2)))} % of the most there is)` : "";
  return `${amount(gap, axis)} of ${called(axis)}${part}`;
}

/** What a step costs, in words: "smallest class 24 → 42 records costs 4 points of information loss". */
export function price(step: Step, axes: readonly Axis[], [safety, use]: [number, number]): string {
  const [p, q] = [axes[safety], axes[use]];
  const safer = p.sense === "min" ? step.safety[1] < step.safety[0] : step.safety[1] > step.safety[0];
  return `${called(p)} ${rough(step.safety[0])} → ${amount(step.safety[1], p)} ${safer ? "costs" : "saves"} ${difference(step.use[0], step.use[1], q)}`;
}

/** What an input asks for: at least so much of what is wanted large, at most so much of what is not. */
export function asked(axis: Axis): string {
  return axis.sense === "max" ? "at least" : "at most";
}

export function limit(axis: Axis, value: number | null): Range {
  if (value === null) return null;
  return axis.sense === "max" ? [value, Infinity] : [-Infinity, value];
}

/** The limit that a range sets at an objective's worse end. */
export function limited(axis: Axis, range: Range): number | null {
  const value = range === null ? null : axis.sense === "max" ? range[0] : range[1];
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Where no point meets all limits: how near each limit lets the others come. */
export function nearest(values: readonly ArrayLike<number>[], axes: readonly Axis[], ranges: readonly Range[], among: readonly number[]): string[] {
  const lines: string[] = [];
  const inside = (a: number, i: number): boolean => {
    const range = ranges[a];
    return range === null || (values[a][i] >= range[0] && values[a][i] <= range[1]);
  };
  axes.forEach((axis, a) => {
    const set = limited(axis, ranges[a]);
    if (set === null) return;
    const rest = among.filter((i) => axes.every((_, b) => b === a || inside(b, i)) && Number.isFinite(values[a][i]));
    if (rest.length === 0) return;
    const best = axis.sense === "max" ? Math.max(...rest.map((i) => values[a][i])) : Math.min(...rest.map((i) => values[a][i]));
    const others = axes.flatMap((other, b) => {
      const value = b === a ? null : limited(other, ranges[b]);
      return value === null ? [] : [`${called(other)} ${asked(other)} ${amount(value, other)}`];
    });
    lines.push(`${others.length > 0 ? `With ${others.join(" and ")}, the` : "The"} ${axis.sense === "max" ? "largest" : "smallest"} ${called(axis)} found is ${amount(best, axis)}.`);
  });
  return lines;
}
