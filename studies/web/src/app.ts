// What every part of the page shares.
import type { Filter, Model } from "./model";
import type { Store } from "./state";
import type { Detail } from "./types";

export interface Details {
  /** Whether this page has, or can get, the pictures of a solution. */
  has(key: string): boolean;
  /** Everything about a solution; null where this page does not have it. */
  get(key: string): Promise<Detail | null>;
  /** Its sentences, if they are at hand or can be fetched. */
  brief(key: string): Promise<string[]>;
}

export interface LiveLink {
  readOnly: boolean;
  /** What a release would meet. */
  terms(key: string): Promise<Terms>;
  /** Release a solution; `reason` overrides what speaks against it, and the certificate repeats it. */
  release(key: string, reason?: string): Promise<ReleaseResult>;
  fetchReleased(key: string, kind: string): Promise<Blob>;
  /** Ask for anything else; what the server refuses is an error with its sentence. */
  ask(path: string, options?: RequestInit): Promise<Response>;
}

/** What a release would meet, told before it is asked for. */
export interface Terms {
  /** Why it would be refused whatever reason is given. */
  refused: string;
  /** What only a reason overrides. */
  broken: string[];
  met: string[];
  files: string[];
}

export interface ReleaseResult {
  files: { kind: string; name: string }[];
  summary: string[];
}

/** A refusal that a reason overrides. */
export class NeedsReason extends Error {}

export interface App {
  model: Model;
  store: Store;
  details: Details;
  live: LiveLink | null;
  /** Seen and selected points; computed once per change. */
  seen: Uint8Array;
  selected: Uint8Array;
}

export function refilter(app: App): void {
  const filter: Filter = app.store.state;
  app.seen = app.model.seen(filter);
  app.selected = app.model.selected(app.seen, filter.ranges);
}

/** A part of the page: redraws itself when told what changed. */
export interface Part {
  root: HTMLElement;
  /** Whether it follows a drag in every frame; the others are told when the drag rests. */
  follows?: boolean;
  update(changed: ReadonlySet<string>): void;
}

export const ANYTHING: ReadonlySet<string> = new Set(["everything"]);

export function concerns(changed: ReadonlySet<string>, ...keys: string[]): boolean {
  return changed.has("everything") || keys.some((key) => changed.has(key));
}

/** Whatever decides which points are drawn vividly. */
export const FILTERS = [
  "dominated", "own", "baselines", "original", "usable", "hiddenRuns", "hiddenSeeds", "ranges", "data",
] as const;

/** Time drawing for the browser's performance panel. */
export function timed(name: string, draw: () => void): void {
  const start = performance.now();
  draw();
  performance.measure(`sdc ${name}`, { start, end: performance.now() });
}
