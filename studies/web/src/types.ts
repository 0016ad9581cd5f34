// The JSON document that the page reads (schema sdc-explorer/1), as payload.py writes it.

export interface Axis {
  name: string;
  label: string;
  sense: "min" | "max";
  unit: string;
  bounds: [number | null, number | null];
  sentence: string;
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
  task: string;
  algorithm: string;
  seeds: number[];
  finished: boolean;
  found: number;
  fingerprint: string;
  created: string;
  versions: Record<string, string>;
  records: number | null;
  data_digest: string;
  require: Record<string, { min?: number; max?: number }>;
  states: SeedState[];
  history: SeedHistory[];
  band: { evaluated: number[]; quantiles: number[][]; seeds: number };
  attributes: Attribute[];
  closed: string;
  shortlist: ShortlistEntry[];
}

export interface Points {
  id: string[];
  run: number[];
  seed: number[];
  generation: number[];
  kind: number[];
  feasible: number[];
  values: (number | null)[][];
}

export interface GroupsPicture {
  type: "groups";
  k: number;
  groups: { attributes: string[]; loss: number }[];
}

export interface LatticeNode {
  attribute: number;
  step: number;
  values: (number | null)[];
}

export interface LatticePicture {
  type: "lattice";
  attributes: { name: string; level: number; levels: string[] }[];
  neighbours: LatticeNode[];
}

export interface MatrixPicture {
  type: "matrices";
  equation: string;
  matrices: {
    attribute: string;
    categories: string[];
    rows: number[][];
    flows: (number | null)[][];
  }[];
}

export interface ClusterPicture {
  type: "clusters";
  clusters: number;
  bars: { from: number; to: number; clusters: number }[];
}

export type Picture = GroupsPicture | LatticePicture | MatrixPicture | ClusterPicture;

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

export interface Detail {
  measures: { name: string; value: number | null }[];
  sentences: string[];
  closed: string;
  picture: Picture | null;
  after: After[];
  facts: Fact[];
}

export interface Live {
  read_only: boolean;
  released: boolean;
}

export interface Payload {
  schema: string;
  made_with: string;
  axes: Axis[];
  runs: Run[];
  points: Points;
  details?: Record<string, Detail>;
  briefs?: Record<string, string[]>;
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
