// The link to the server: the token travels in a header, never in a URL that is kept.
import { NeedsReason, type Details, type LiveLink, type ReleaseResult } from "./app";
import { splitKey } from "./model";
import { checkPayload, type Detail, type Payload, type ShortlistEntry } from "./types";

const KEPT = "sdc-token";

/** The token from the address that the server printed, or from an earlier load of this page in this tab. */
export function takeToken(): string {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token");
  if (given !== null) {
    sessionStorage.setItem(KEPT, given);
    fragment.delete("token");
    history.replaceState(null, "", `#${fragment.toString()}`);
    return given;
  }
  return sessionStorage.getItem(KEPT) ?? "";
}

/** Complete events of a stream's text, and what is left over. */
export function events(text: string): [string[], string] {
  const parts = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = parts.pop() ?? "";
  const data = parts.map((part) => part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n"));
  return [data.filter((one) => one !== ""), rest];
}

export class Server implements Details, LiveLink {
  readOnly = true;
  private readonly details = new Map<string, Promise<Detail | null>>();

  constructor(private readonly token: string) {}

  private async ask(path: string, options: RequestInit = {}): Promise<Response> {
    const answer = await fetch(path, {
      ...options, cache: "no-store", credentials: "omit", redirect: "error",
      headers: { Authorization: `Bearer ${this.token}`, ...(options.body ? { "Content-Type": "application/json" } : {}) },
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
    const document = (await (await this.ask("api/payload")).json()) as Payload & { live: { read_only: boolean } };
    this.readOnly = document.live.read_only;
    return checkPayload(document);
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
    this.wanted = key;
    if (!this.details.has(key)) await new Promise((resolve) => setTimeout(resolve, 120));
    if (this.wanted !== key || key.endsWith(":original")) return [];
    return (await this.get(key))?.sentences ?? [];
  }

  async keepShortlist(run: number, entries: ShortlistEntry[]): Promise<void> {
    await this.ask(`api/shortlist?run=${run}`, { method: "PUT", body: JSON.stringify(entries) });
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
