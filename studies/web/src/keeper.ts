// The shortlist in the run folders: this page's changes go there, those of other pages come from there.
import { keyOf, splitKey } from "./model";
import type { Server } from "./live";
import type { Store } from "./state";
import type { ShortlistEntry } from "./types";

type Notes = ReadonlyMap<string, string>;

/** What makes `after` of `before`: entries to keep with their notes, and those to drop. */
export function changes(before: Notes, after: Notes): { keep: [string, string][]; drop: string[] } {
  return {
    keep: [...after].filter(([key, note]) => before.get(key) !== note),
    drop: [...before.keys()].filter((key) => !after.has(key)),
  };
}

/** What the folder holds, with the changes that are not there yet. */
export function merged(stored: Notes, before: Notes, mine: Notes): Map<string, string> {
  const { keep, drop } = changes(before, mine);
  const out = new Map(stored);
  for (const [key, note] of keep) out.set(key, note);
  for (const key of drop) out.delete(key);
  return out;
}

export class Keeper {
  private readonly channel = new BroadcastChannel(`sdc-shortlist ${location.pathname}`);
  private waiting = 0;

  /** `stored` is what the folders held when the page last heard of it. */
  constructor(
    private readonly server: Server,
    private readonly store: Store,
    private readonly runs: number,
    private stored: Notes,
    private readonly tell: (text: string) => void,
  ) {
    this.channel.onmessage = () => { void this.hear(); };
    addEventListener("focus", () => { void this.hear(); });
  }

  /** Take what the folders hold now; changes of this page that are not there yet stay. */
  take(stored: Notes): void {
    const next = merged(stored, this.stored, this.store.state.shortlist);
    this.stored = stored;
    const { keep, drop } = changes(this.store.state.shortlist, next);
    if (keep.length + drop.length > 0) {
      this.store.set({ shortlist: next, compare: this.store.state.compare.filter((key) => next.has(key)) });
    }
  }

  /** Ask the server: another page may have changed something. */
  async hear(): Promise<void> {
    const lists = await Promise.all(Array.from({ length: this.runs }, (_, run) => this.server.shortlist(run)));
    this.take(fromEntries(lists));
  }

  /** Send what this page has changed, a moment after the last change. */
  changed(): void {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => { void this.send(); }, 400);
  }

  private async send(): Promise<void> {
    const { keep, drop } = changes(this.stored, this.store.state.shortlist);
    const touched = new Set([...keep.map(([key]) => key), ...drop].map((key) => splitKey(key)[0]));
    if (touched.size === 0) return;
    try {
      for (const run of touched) {
        const mine = (key: string): boolean => splitKey(key)[0] === run;
        const entries = await this.server.changeShortlist(
          run,
          keep.filter(([key]) => mine(key)).map(([key, note]) => ({ id: splitKey(key)[1], note })),
          drop.filter(mine).map((key) => splitKey(key)[1]),
        );
        const others = [...this.stored].filter(([key]) => !mine(key));
        this.take(new Map([...others, ...entries.map((entry) => [keyOf(run, entry.id), entry.note] as const)]));
      }
      this.tell("shortlist kept");
      this.channel.postMessage("changed");
    } catch (error) {
      this.tell(error instanceof Error ? error.message : "not kept");
    }
  }
}

export function fromEntries(lists: ShortlistEntry[][]): Map<string, string> {
  return new Map(lists.flatMap((list, run) => list.map((entry) => [keyOf(run, entry.id), entry.note] as const)));
}
