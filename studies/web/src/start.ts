// The start page: choose a file of this machine, correct its roles, say what is asked, take what comes out.
import { announce, announcer, button, h, replace } from "./dom";
import { download } from "./figure";
import { short, visible } from "./format";
import type { Server } from "./live";
import { report } from "./report";
import { filePart } from "./startfile";
import { rolesPart, type Scan } from "./startroles";

interface Result { promises?: string[]; promise?: string; risk?: string; utility?: string; files?: { kind: string; name: string }[] }
interface Told { busy: boolean; stopping: boolean; said: string; share: number | null; error: string; result: Result | null; run: string | null }

const FILES: Record<string, string> = { table: "The protected file", certificate: "Its certificate (may be published)", page: "The report below", mapping: "Value mapping (for you only)", rows: "Rows file (for you only)" };

/** What the start page asks the server, and where it says that something went wrong. */
export class Asking {
  readonly wrong = h("p", { class: "notice", role: "alert", hidden: true });
  constructor(readonly server: Server) {}

  fail(error: unknown): void {
    this.wrong.hidden = false;
    replace(this.wrong, visible(error instanceof Error ? error.message : "it could not be done"));
    this.wrong.scrollIntoView({ block: "nearest" });
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.server.ask(path)).json()) as T;
  }

  async send<T>(path: string, body: unknown): Promise<T> {
    this.wrong.hidden = true;
    return (await (await this.server.ask(path, { method: "POST", body: JSON.stringify(body) })).json()) as T;
  }
}

export function startPage(root: HTMLElement, server: Server, folder: string): void {
  const asking = new Asking(server);
  const [choose, roles, ask, done] = ["Choose a file", "What may others know?", "Protect it, or search", "Take it"].map((title, i) =>
    h("section", { "aria-label": title, hidden: i > 0 }, h("h2", { tabindex: -1 }, `${i + 1}. ${title}`), h("div")));
  const inside = (section: HTMLElement): HTMLElement => section.lastElementChild as HTMLElement;
  const go = (section: HTMLElement): void => {
    section.hidden = false;
    section.querySelector<HTMLElement>("h2")!.focus();
  };
  const columns = rolesPart();
  let scan: Scan | null = null;

  const file = filePart(asking, folder, (found) => {
    scan = found;
    columns.show(found);
    place.value = found.run;
    replace(handed, found.handed ? "A file that was handed over is gone when the server ends, and its run with it: type the file's path instead to keep the run." : "The folder stays, as that of sdc run.");
    replace(task, found.searches.map((one) => h("option", { value: one.name }, one.title)));
    told();
    ask.hidden = false;
    done.hidden = true;
    go(roles);
  });
  replace(inside(choose), file);
  replace(inside(roles), columns.root);

  // -- what is asked ---------------------------------------------------------------------------------------------------
  const k = h("input", { type: "number", min: 2, step: 1, value: 5, id: "k" });
  const most = h("input", { type: "number", min: 0, max: 99, step: "any", value: 1, id: "most" });
  const task = h("select", { id: "task", onchange: () => { told(); } });
  const minutes = h("input", { type: "number", min: 0.05, max: 1440, step: "any", value: 1, id: "minutes" });
  const place = h("input", { type: "text", id: "run", autocomplete: "off", spellcheck: "false" });
  const promise = h("p", { class: "hint" });
  const handed = h("p", { class: "hint" });
  const bar = h("progress", { max: 1, "aria-label": "How far it is", hidden: true });
  const said = h("p", { class: "muted", role: "status" });
  const protect = button("Protect it now", () => { void carryOut("api/start/protect", () => demand()); }, { class: "primary" });
  const search = button("Search", () => {
    void carryOut("api/start/search", () => ({ demand: demand(), search: { task: task.value, minutes: Number(minutes.value), folder: place.value } }));
  });
  const stop = button("Stop", () => { asking.send("api/start/stop", {}).catch((error: unknown) => { asking.fail(error); }); stop.disabled = true; }, { hidden: true });
  const peek = button("Look at what there is so far", () => { void open(); }, { hidden: true });
  replace(inside(ask),
    h("div", { class: "row" },
      h("label", { class: "field" }, h("span", {}, "every record looks like at least k ="), k, h("span", {}, "records, itself among them")),
      h("label", { class: "field" }, h("span", {}, "records left out, at most"), most, h("span", {}, "%"))),
    h("div", { class: "ways" },
      h("div", {}, h("h3", {}, "One file, at once"),
        h("p", { class: "hint" }, "Several methods are compared, as sdc protect does, and the one that loses least is taken."),
        protect),
      h("div", {}, h("h3", {}, "All trade-offs, to choose among"),
        h("p", { class: "hint" }, "A study is searched, as sdc run does; then its page opens, where one solution is chosen and released."),
        h("label", { class: "field" }, h("span", {}, "what is searched"), task),
        h("label", { class: "field" }, h("span", {}, "for at most"), minutes, h("span", {}, "minutes")),
        h("label", { class: "field wide" }, h("span", {}, "run folder"), place),
        handed, promise, search)),
    h("div", { class: "row" }, bar, said, stop, peek));

  function told(): void {
    const one = scan?.searches.find((other) => other.name === task.value);
    replace(promise, one === undefined || one.k ? "" : "Its solutions promise no k: the page tells the risk of each.");
  }

  function demand(): unknown {
    return { ...columns.said(), k: Number(k.value), max_suppression: Number(most.value) };
  }

  async function open(): Promise<void> {
    try {
      await asking.send("api/start/open", {});
      location.reload();
    } catch (error) {
      asking.fail(error);
    }
  }

  async function carryOut(path: string, body: () => unknown): Promise<void> {
    if (scan === null) return;
    try {
      await asking.send(path, body());
      done.hidden = true;
      await follow();
    } catch (error) {
      asking.fail(error);
    }
  }

  /** Tell how far it is until it is done. */
  async function follow(): Promise<void> {
    try {
      for (;;) {
        const now = await asking.get<Told>("api/start/state");
        for (const one of [protect, search]) one.disabled = now.busy;
        bar.hidden = stop.hidden = !now.busy;
        if (now.share === null) bar.removeAttribute("value");
        else bar.value = now.share;
        stop.disabled = now.stopping;
        peek.hidden = now.run === null;
        replace(said, now.busy ? visible(`${now.stopping ? "stopping: " : ""}${now.said || "beginning"} …`) : "");
        if (!now.busy) {
          peek.textContent = "Open its page";
          if (now.error) throw new Error(now.error);
          if (now.result?.files !== undefined) show(now.result);
          else if (now.run !== null) await open();
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 400));
      }
    } finally {
      for (const one of [protect, search]) one.disabled = false;
      bar.hidden = stop.hidden = true;
    }
  }

  function show(result: Result): void {
    const shown = h("div", {}, h("p", { class: "muted" }, "Reading the report …"));
    const save = (one: { kind: string; name: string }): HTMLElement => button(`Save ${short(one.name, 70)}`, () => {
      server.ask(`api/start/file?kind=${one.kind}`).then(async (answer) => {
        download(one.name, await answer.blob());
        announce(`${one.name} saved`);
      }).catch((error: unknown) => { asking.fail(error); });
    }, { "data-kind": one.kind, ...(one.kind === "table" ? { class: "primary" } : {}) });
    replace(inside(done),
      h("p", {}, `Counted in the file: ${(result.promises ?? []).map(visible).join("; ")}. Guarantee: ${visible(result.promise ?? "")}.`),
      result.risk && h("p", {}, h("strong", {}, "Risk: "), visible(result.risk)),
      result.utility && h("p", {}, h("strong", {}, "Use: "), visible(result.utility)),
      h("ul", { class: "met" }, (result.files ?? []).map((one) => h("li", {}, save(one), " ", h("span", { class: "muted" }, FILES[one.kind] ?? "")))),
      h("p", { class: "hint" }, "They are in a private folder until the server ends: save what you need."),
      shown);
    void report("api/start/report").then((made) => { replace(shown, made); });
    go(done);
  }

  replace(root,
    h("header", {}, h("div", {}, h("h1", {}, "Protect a table"), h("p", { class: "muted" }, "From a file of this machine to one that may be given away."))),
    h("main", { id: "main", class: "start" }, asking.wrong, choose, roles, ask, done),
    announcer());
  document.title = "Protect a table – sdc explorer";

  // A search that goes on, or a file that was made, is there again after a reload.
  void asking.get<Told>("api/start/state").then((now) => {
    if (!now.busy && now.result === null) return;
    ask.hidden = false;
    if (now.busy) follow().catch((error: unknown) => { asking.fail(error); });
    else if (now.result?.files !== undefined) show(now.result);
    else {
      peek.textContent = "Open its page";
      peek.hidden = now.run === null;
      replace(said, now.run === null ? "" : `The run is in ${visible(now.run)}.`);
    }
  });
}

