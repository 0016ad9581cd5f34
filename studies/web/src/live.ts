// The link to the server. What the page knows of it is a cookie that no script reads.
import { NeedsReason, type Details, type LiveLink, type ReleaseResult, type Terms } from "./app";
import { splitKey } from "./model";
import { checkPayload, type Detail, type Payload, type ShortlistEntry } from "./types";

/**
 * Use up the code of the address that the server printed: the browser keeps a cookie for it.
 *
 * Returns why it was refused, or null. One that was used before does no harm in a browser that holds the cookie.
 */
export async function useCode(): Promise<Error | null> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get("code");
  if (code === null) return null;
  fragment.delete("code");
  history.replaceState(null, "", `#${fragment.toString()}`);
  const answer = await fetch("api/session", { method: "POST", body: JSON.stringify(code), headers: { "Content-Type": "application/json" } });
  return answer.ok ? null : new Error(((await answer.json()) as { error: string }).error);
}

/** Complete events of a stream's text, and what is left over. */
export function events(text: string): [string[], string] {
  const parts = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = parts.pop() ?? "";
  const data = parts.map((part) => part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n"));
  return [data.filter((one) => one !== ""), rest];
}

/** There is no run yet: the server shows its start page. */
export class StartsHere extends Error {
  constructor(readonly folder: string) {
    super("no run is open");
  }
}

export class Server implements Details, LiveLink {
  readOnly = true;
  startBehind = false; // whether there is a start page to go back to
  private readonly details = new Map<string, Promise<Detail | null>>();
  private readonly briefs = new Map<string, string[]>();

  async ask(path: string, options: RequestInit = {}): Promise<Response> {
    const answer = await fetch(path, {
      ...options, cache: "no-store", credentials: "same-origin", redirect: "error",
      headers: options.body ? { "Content-Type": "application/json" } : {},
    });
    if (!answer.ok) {
      const text = await answer.text();
      let message = `the server answered ${answer.status}`;
      let overridable = false;
      try {
        const said = JSON.parse(text) as { error: unknown; needs_reason?: boolean };
        message = String(said.error);
        overridable = said.needs_reason === true;
      } catch { /* not JSON: the status says it */ }
      throw overridable ? new NeedsReason(message) : new Error(message);
    }
    return answer;
  }

  async payload(): Promise<Payload> {
    const document = (await (await this.ask("api/payload")).json()) as Payload & { live: { read_only: boolean; start: boolean }; folder?: string };
    if (document.schema === "sdc-start/1") throw new StartsHere(document.folder ?? "");
    this.readOnly = document.live.read_only;
    this.startBehind = document.live.start;
    return checkPayload(document);
  }

  has(): boolean {
    return true;
  }

  get(key: string): Promise<Detail | null> {
    let found = this.details.get(key);
    if (found === undefined) {
      const [run, id] = splitKey(key);
      found = this.ask(`api/detail?run=${run}&id=${encodeURIComponent(id)}`).then(
        async (answer) => (await answer.json()) as Detail,
        () => {
          this.details.delete(key);
          return null;
        },
      );
      this.details.set(key, found);
    }
    return found;
  }

  private wanted = "";
  async brief(key: string): Promise<string[]> {
    // A pointer passes many points: only the one it rests on is asked for.
    const known = this.briefs.get(key);
    if (known !== undefined) return known;
    this.wanted = key;
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (this.wanted !== key || key.endsWith(":original")) return [];
    const [run, id] = splitKey(key);
    const told = await this.ask(`api/brief?run=${run}&id=${encodeURIComponent(id)}`).then(
      async (answer) => (await answer.json()) as { sentences: string[] },
      () => ({ sentences: [] }),
    );
    if (told.sentences.length === 0) return [];
    if (this.briefs.size > 2000) this.briefs.clear();
    this.briefs.set(key, told.sentences);
    return told.sentences;
  }

  /** Entries of a run's shortlist as the folder holds them. */
  async shortlist(run: number): Promise<ShortlistEntry[]> {
    return (await (await this.ask(`api/shortlist?run=${run}`)).json()) as ShortlistEntry[];
  }

  async changeShortlist(run: number, keep: ShortlistEntry[], drop: string[]): Promise<ShortlistEntry[]> {
    const answer = await this.ask(`api/shortlist?run=${run}`, { method: "PATCH", body: JSON.stringify({ keep, drop }) });
    return (await answer.json()) as ShortlistEntry[];
  }

  async terms(key: string): Promise<Terms> {
    const [run, id] = splitKey(key);
    return (await (await this.ask(`api/terms?run=${run}&id=${encodeURIComponent(id)}`)).json()) as Terms;
  }

  async release(key: string, reason?: string): Promise<ReleaseResult> {
    const [run, id] = splitKey(key);
    const body = reason === undefined ? { run, id } : { run, id, override: reason };
    const answer = await this.ask("api/release", { method: "POST", body: JSON.stringify(body) });
    return (await answer.json()) as ReleaseResult;
  }

  async fetchReleased(key: string, kind: string): Promise<Blob> {
    const [run, id] = splitKey(key);
    const query = new URLSearchParams({ run: String(run), id, kind });
    return (await this.ask(`api/released?${query.toString()}`)).blob();
  }

  /** Call back whenever the server says that the runs changed; reconnect when the connection is lost. */
  async follow(changed: () => Promise<void>, state: (connected: boolean) => void): Promise<void> {
    for (let tries = 0; ; tries = Math.min(tries + 1, 6)) {
      try {
        const answer = await this.ask("api/events");
        state(true);
        tries = 0;
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const [found, rest] = events(text + value);
          text = rest;
          if (found.includes("finished")) {
            await changed();
            return;
          }
          if (found.length > 0) await changed();
        }
      } catch { /* the server went away: try again below */ }
      state(false);
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** tries));
    }
  }
}
