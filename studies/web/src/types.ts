// The JSON document that the page reads (schema sdc-explorer/1), as payload.py writes it.

export interface Axis {
  name: string;
  label: string;
  sense: "min" | "max";
  unit: string;
  bounds: [number | null, number | null];
  sentence: string;
  /** Whether a better value protects people more or keeps more of the data; empty if neither is known. */
  concerns: "risk" | "loss" | "";
}

export interface LabelBars {
  kind: "labels";
  labels: string[];
  counts: number[];
  rest: number;
  rest_labels: number;
}

export interface BinBars {
  kind: "bins";
  edges: number[];
  counts: (number | null)[];
  rest: number;
}

export type Bars = LabelBars | BinBars;

export interface Attribute {
  name: string;
  role: string;
  kind: string;
  before: Bars;
}

export interface SeedHistory {
  seed: number;
  generation: number[];
  evaluated: number[];
  front: number[];
  hypervolume: number[];
  seconds: number[];
}

export interface SeedState {
  seed: number;
  status: string;
  reason: string;
  generations: number;
  evaluated: number;
  solutions: number;
  seconds: number;
}

export interface ShortlistEntry {
  id: string;
  note: string;
}

export interface Run {
  name: string;
  label: string;
  /** A name that no other run of the page has. */
  called: string;
  task: string;
  task_title: string;
  algorithm: string;
  algorithm_title: string;
  seeds: number[];
  finished: boolean;
  /** "finished", "working", or "unfinished" where no process works on it. */
  status: string;
  found: number;
  fingerprint: string;
  created: string;
  versions: Record<string, string>;
  records: number | null;
  /** What the run's shares are of: its records, and how many there were if some were left out. */
  kept: string;
  data_digest: string;
  require: Record<string, { min?: number; max?: number }>;
  states: SeedState[];
  history: SeedHistory[];
  band: { evaluated: number[]; quantiles: number[][]; seeds: number };
  attributes: Attribute[];
  closed: string;
  /** Command that repeats the run. */
  repeat: string;
  leaving: string[];
  shortlist: ShortlistEntry[];
}

export interface Points {
  id: string[];
  run: number[];
  seed: number[];
  generation: number[];
  kind: number[];
  feasible: number[];
  /** Seeds that found these values, of a point on the front or one that equals it; else 0. */
  found: number[];
  values: (number | null)[][];
}

/** What every picture has; `rows` say the same in a table, where solutions stand side by side. */
interface AnyPicture {
  title: string;
  caption: string;
  rows: [string, string][];
}

export interface BarsPicture extends AnyPicture {
  type: "bars";
  labels: string[];
  values: (number | null)[];
  across: string;
  up: string;
}

export interface LinesPicture extends AnyPicture {
  type: "lines";
  places: (number | null)[];
  lines: { name: string; values: (number | null)[] }[];
  across: string;
  up: string;
}

export interface MatrixPicture extends AnyPicture {
  type: "matrix";
  name: string;
  row_labels: string[];
  column_labels: string[];
  shares: number[][];
  down: string;
  across: string;
  measure: string;
  records: (number | null)[][];
  summary: string;
}

export interface BlocksPicture extends AnyPicture {
  type: "blocks";
  blocks: { items: string[]; value: number | null }[];
  items: string;
  value: string;
  unit: string;
  noun: string;
}

export interface LatticePicture extends AnyPicture {
  type: "lattice";
  attributes: { name: string; level: number; levels: string[] }[];
  neighbours: { attribute: number; step: number; values: (number | null)[] }[];
  across: string;
}

export interface GraphState {
  name: string;
  sizes: (number | null)[];
  links: { source: number; target: number; value: number | null }[];
  shades: (number | null)[];
}

export interface GraphPicture extends AnyPicture {
  type: "graph";
  nodes: { name: string; x: number; y: number }[];
  states: GraphState[];
  size: string;
  value: string;
  shade: string;
  unit: string;
  summary: string;
}

export interface TablePicture extends AnyPicture {
  type: "table";
  head: string[];
  lines: (string | number | null)[][];
}

export interface FormulaPicture extends AnyPicture {
  type: "formula";
  text: string;
}

/** The picture types of studies/report/picture_types.py. */
export type Picture = BarsPicture | LinesPicture | MatrixPicture | BlocksPicture | LatticePicture | GraphPicture | TablePicture | FormulaPicture;

export interface Fact {
  label: string;
  value: number;
  unit: string;
  sentence: string;
}

export interface After {
  changed: number | null;
  bars: Bars | null;
}

/** Who could still be found: percentages of the highest and the mean risk, counts in fives. */
export interface Exposure {
  risks: { name: string; who: string; before: (number | null)[]; after: (number | null)[] }[];
  sizes: LabelBars[];
  combinations: { columns: string[]; before: number | null; after: number | null }[];
  note: string;
}

export interface Detail {
  measures: { name: string; value: number | null }[];
  sentences: string[];
  closed: string;
  pictures: Picture[];
  after: After[];
  facts: Fact[];
  exposure: Exposure | null;
  leaving: string[];
}

export interface Live {
  read_only: boolean;
  released: boolean;
}

export interface Payload {
  schema: string;
  made_with: string;
  axes: Axis[];
  /** Whether all runs are on the same data: then they have one front and one box. */
  one_table: boolean;
  runs: Run[];
  points: Points;
  details?: Record<string, Detail>;
  /** Sentences of solutions without pictures, by number in `sentences`. */
  briefs?: Record<string, number[]>;
  sentences?: string[];
}

export const KINDS = ["dominated", "best of its seed", "front", "baseline", "original"] as const;
export const DOMINATED = 0;
export const OWN_FRONT = 1;
export const FRONT = 2;
export const BASELINE = 3;
export const ORIGINAL = 4;

export function checkPayload(document: unknown): Payload {
  const payload = document as Payload | null;
  if (typeof payload !== "object" || payload === null || typeof payload.schema !== "string") {
    throw new Error("this page holds no data that it understands");
  }
  if (!payload.schema.startsWith("sdc-explorer/1")) {
    throw new Error(`this page reads sdc-explorer/1; its data are ${payload.schema.slice(0, 40)}`);
  }
  return payload;
}
