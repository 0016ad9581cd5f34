// The points as columns, and which of them are seen and selected. No drawing here.
import { BASELINE, DOMINATED, FRONT, KINDS, ORIGINAL, OWN_FRONT, type Payload } from "./types";

export type Range = [number, number] | null;

export interface Filter {
  dominated: boolean;
  own: boolean;
  baselines: boolean;
  original: boolean;
  usable: boolean;
  hiddenRuns: ReadonlySet<number>;
  hiddenSeeds: ReadonlySet<number>;
  ranges: readonly Range[];
}

export class Model {
  readonly n: number;
  readonly keys: string[];
  readonly values: Float64Array[];
  readonly kind: Uint8Array;
  readonly run: Uint16Array;
  readonly usable: Uint8Array;
  readonly extents: [number, number][];
  private readonly index: Map<string, number>;

  constructor(readonly payload: Payload) {
    const points = payload.points;
    this.n = points.id.length;
    this.keys = points.id.map((id, i) => keyOf(points.run[i], id));
    this.index = new Map(this.keys.map((key, i) => [key, i]));
    this.kind = Uint8Array.from(points.kind);
    this.run = Uint16Array.from(points.run);
    this.values = payload.axes.map((_, a) => Float64Array.from(points.values, (row) => row[a] ?? NaN));
    this.usable = Uint8Array.from(points.id, (_, i) => (points.feasible[i] && this.meets(i) ? 1 : 0));
    this.extents = this.values.map((column) => extent(column));
  }

  get axes(): Payload["axes"] {
    return this.payload.axes;
  }

  find(key: string | null): number {
    return key === null ? -1 : (this.index.get(key) ?? -1);
  }

  value(axis: number, i: number): number {
    return this.values[axis][i];
  }

  /** Whether a point meets what its study requires. */
  private meets(i: number): boolean {
    const required = this.payload.runs[this.payload.points.run[i]].require;
    return this.payload.axes.every((axis, a) => {
      const wanted = Object.hasOwn(required, axis.name) ? required[axis.name] : undefined;
      const value = this.values[a][i];
      return wanted === undefined || (value >= (wanted.min ?? -Infinity) && value <= (wanted.max ?? Infinity));
    });
  }

  seen(filter: Filter): Uint8Array {
    const show = [filter.dominated, filter.own, true, filter.baselines, filter.original];
    const seeds = this.payload.points.seed;
    const out = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) {
      out[i] =
        show[this.kind[i]] &&
        !filter.hiddenRuns.has(this.run[i]) &&
        !(this.kind[i] < BASELINE && filter.hiddenSeeds.has(seeds[i])) &&
        (!filter.usable || this.usable[i] || this.kind[i] === ORIGINAL)
          ? 1
          : 0;
    }
    return out;
  }

  /** Points that are seen and lie within every range. */
  selected(seen: Uint8Array, ranges: readonly Range[]): Uint8Array {
    const out = Uint8Array.from(seen);
    ranges.forEach((range, a) => {
      if (range === null) return;
      const column = this.values[a];
      for (let i = 0; i < this.n; i++) {
        if (out[i] && !(column[i] >= range[0] && column[i] <= range[1])) out[i] = 0;
      }
    });
    return out;
  }

  /** What a screen reader, a tooltip and a table call a point. */
  name(i: number): string {
    const id = this.payload.points.id[i];
    if (this.kind[i] === BASELINE) return `baseline “${id.replace(/^baseline-/, "")}”`;
    if (this.kind[i] === ORIGINAL) return "the original table";
    return `solution ${id}`;
  }

  /** What a point is; on the front also how many seeds found its values, which tells how sure one can be of them. */
  kindName(i: number): string {
    const found = this.payload.points.found[i];
    const seeds = this.seeds(this.run[i]);
    if (found === 0 || seeds < 2) return KINDS[this.kind[i]];
    const by = `found by ${found} of ${seeds} seeds`;
    return this.kind[i] === FRONT ? `${KINDS[FRONT]}, ${by}` : `as good as the front, ${by}`;
  }

  /** Seeds that search for the front of a run. */
  private seeds(run: number): number {
    const { runs, one_table } = this.payload;
    return (one_table ? runs : [runs[run]]).reduce((sum, one) => sum + one.seeds.length, 0);
  }

  /** What the page calls a run: no other one is called so. */
  runName(run: number): string {
    const { runs } = this.payload;
    return runs.length > 1 ? runs[run].called : runs[run].label;
  }
}

/** Whether an axis is better read on a logarithmic scale: all positive, and most of it crowded at one end. */
export function skewed(model: Model, axis: number): boolean {
  const values = Array.from(model.values[axis]).filter((v, i) => Number.isFinite(v) && model.kind[i] >= FRONT);
  if (values.length < 3 || model.extents[axis][0] <= 0) return false;
  values.sort((a, b) => a - b);
  const [low, high] = [values[0], values[values.length - 1]];
  const middle = values[Math.floor(values.length / 2)];
  return high / low >= 50 && (middle - low) / (high - low) < 0.15;
}

export function keyOf(run: number, id: string): string {
  return `${run}:${id}`;
}

export function splitKey(key: string): [number, string] {
  const at = key.indexOf(":");
  return [Number(key.slice(0, at)), key.slice(at + 1)];
}

export function extent(column: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of Array.from(column)) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Positions of a staircase: points that no other one of the list beats in the two objectives, ordered by x. */
export function staircase(
  model: Model,
  x: number,
  y: number,
  among: (i: number) => boolean,
): number[] {
  const sx = model.axes[x].sense === "min" ? 1 : -1;
  const sy = model.axes[y].sense === "min" ? 1 : -1;
  const order: number[] = [];
  for (let i = 0; i < model.n; i++) if (among(i)) order.push(i);
  const vx = model.values[x];
  const vy = model.values[y];
  order.sort((a, b) => sx * (vx[a] - vx[b]) || sy * (vy[a] - vy[b]));
  const kept: number[] = [];
  let best = Infinity;
  for (const i of order) {
    if (sy * vy[i] < best) {
      kept.push(i);
      best = sy * vy[i];
    }
  }
  return kept;
}

/** Rows of the table: selected points in the wanted order; ties by key, so that the order never jumps. */
export function ordered(model: Model, rows: number[], column: string, descending: boolean): number[] {
  const axis = model.axes.findIndex((a) => a.name === column);
  const points = model.payload.points;
  const text = (i: number): string => (column === "kind" ? model.kindName(i) : points.id[i]);
  const amount = (i: number): number =>
    column === "run" ? points.run[i] : column === "seed" ? points.seed[i] : points.generation[i];
  const compare = (a: number, b: number): number => {
    if (axis >= 0) {
      const [va, vb] = [model.values[axis][a], model.values[axis][b]];
      if (Number.isNaN(va) || Number.isNaN(vb)) return Number(Number.isNaN(va)) - Number(Number.isNaN(vb));
      return va - vb;
    }
    if (column === "id" || column === "kind") return text(a).localeCompare(text(b), "en", { numeric: true });
    return amount(a) - amount(b);
  };
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(a, b) || a - b);
}

export { BASELINE, DOMINATED, FRONT, ORIGINAL, OWN_FRONT };
