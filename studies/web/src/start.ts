// The start page: choose a file of this machine, correct its roles, say what is asked, save what comes out.
import { announce, announcer, button, h, replace } from "./dom";
import { download } from "./figure";
import { count, short, visible } from "./format";
import type { Server } from "./live";

interface Listing { folder: string; parent: string; folders: string[]; files: string[] }
interface Column { name: string; kind: string; values: number; role: string; reason: string }
interface Scan { path: string; name: string; records: number; columns: Column[]; combinations: { columns: string[]; singled_out: number }[] }
interface Result { sentences: string[]; promises: string[]; promise: string; risk: string; utility: string; files: { kind: string; name: string }[] }
interface Told { busy: boolean; said: string[]; error: string; result: Result | null }

const ROLES: [string, string][] = [["quasi-identifier", "others may know it"], ["sensitive", "a secret"], ["identifier", "names the person: left out"], ["other", "leaves as it is"]];
const FILES: Record<string, string> = { table: "The protected file", certificate: "Its certificate (may be published)", page: "The report", mapping: "Value mapping (for you only)", rows: "Rows file (for you only)" };

export function startPage(root: HTMLElement, server: Server, folder: string): void {
  const [choose, roles, ask, done] = ["Choose a file", "What may others know?", "Protect it", "Take it"].map((title, i) =>
    h("section", { "aria-label": title, hidden: i > 0 }, h("h2", { tabindex: -1 }, `${i + 1}. ${title}`), h("div")));
  const inside = (section: HTMLElement): HTMLElement => section.lastElementChild as HTMLElement;
  const wrong = h("p", { class: "notice", role: "alert", hidden: true });
  let scan: Scan | null = null;
  const chosen = new Map<string, string>();

  function fail(error: unknown): void {
    wrong.hidden = false;
    replace(wrong, visible(error instanceof Error ? error.message : "it could not be done"));
  }

  async function send<T>(path: string, body: unknown): Promise<T> {
    wrong.hidden = true;
    return (await (await server.ask(path, { method: "POST", body: JSON.stringify(body) })).json()) as T;
  }

  // -- the file --------------------------------------------------------------------------------------------------------
  const place = h("input", { type: "text", id: "path", "aria-label": "Path of the file", autocomplete: "off", spellcheck: "false" });
  place.value = folder;
  const list = h("ul", { class: "files", tabindex: 0, "aria-label": "Files" });
  const join = (base: string, name: string): string => (base.endsWith("/") ? `${base}${name}` : `${base}/${name}`);

  async function look(where: string): Promise<void> {
    try {
      wrong.hidden = true;
      const found = (await (await server.ask(`api/start/files?folder=${encodeURIComponent(where)}`)).json()) as Listing;
      place.value = found.folder;
      const entry = (name: string, act: () => void): HTMLElement => h("li", {}, button(short(name, 60), act, { class: "link" }));
      replace(list,
        found.parent !== found.folder && entry("↑ one folder up", () => { void look(found.parent); }),
        found.folders.map((name) => entry(`${name}/`, () => { void look(join(found.folder, name)); })),
        found.files.map((name) => entry(name, () => { void open(join(found.folder, name)); })),
        found.files.length === 0 && h("li", { class: "muted" }, "No table here."));
    } catch (error) {
      fail(error);
    }
  }

  async function open(path: string): Promise<void> {
    announce("reading the file");
    try {
      scan = await send<Scan>("api/start/scan", { path });
      place.value = path;
      chosen.clear();
      for (const column of scan.columns) chosen.set(column.name, column.role);
      showRoles(scan);
    } catch (error) {
      fail(error);
    }
  }

  const upload = h("input", { type: "file", id: "upload", onchange: () => {
    const file = upload.files?.[0];
    if (file === undefined) return;
    wrong.hidden = true;
    server.ask(`api/start/upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file })
      .then(async (answer) => open(((await answer.json()) as { path: string }).path)).catch(fail);
  } });
  replace(inside(choose),
    h("div", { class: "place" }, place, button("Open", () => {
      const path = place.value.trim();
      if (/\.[A-Za-z0-9]{2,8}$/.test(path)) void open(path);
      else void look(path);
    }, { class: "primary" })),
    list,
    h("label", { class: "field" }, h("span", {}, "or hand one over"), upload),
    h("p", { class: "hint" }, "The file stays on this machine. One that is handed over lies in a private folder of this server and goes when it ends."));

  // -- its roles -------------------------------------------------------------------------------------------------------
  function showRoles(found: Scan): void {
    replace(inside(roles),
      h("p", {}, `${short(found.name, 80)}: ${count(found.records)} records. Each column proposes a role; correct what is wrong.`),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" }, h("table", {},
        h("thead", {}, h("tr", {}, ["Column", "Role", "Kind", "Values"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, found.columns.map((column) => {
          const pick = h("select", { "aria-label": `Role of ${short(column.name, 60)}`, onchange: () => { chosen.set(column.name, pick.value); } },
            ROLES.map(([role, said]) => h("option", { value: role }, `${role === "other" ? "no role" : role}: ${said}`)));
          pick.value = column.role;
          return h("tr", {}, h("th", { scope: "row" }, short(column.name, 40)), h("td", {}, pick, h("p", { class: "hint" }, short(column.reason, 160))), h("td", {}, column.kind), h("td", { class: "number" }, count(column.values)));
        })))),
      found.combinations.map((one) => h("p", { class: "hint" }, `${one.columns.map((name) => short(name, 30)).join(" + ")}: ${count(one.singled_out)} records or a few more are the only ones with their values.`)));
    for (const section of [roles, ask]) section.hidden = false;
    done.hidden = true;
    roles.querySelector<HTMLElement>("h2")!.focus();
  }

  // -- what is asked ---------------------------------------------------------------------------------------------------
  const k = h("input", { type: "number", min: 2, step: 1, value: 5, id: "k" });
  const most = h("input", { type: "number", min: 0, max: 99, step: "any", value: 1, id: "most" });
  const said = h("p", { class: "muted", role: "status" });
  const go = button("Protect", () => { void protect(); }, { class: "primary" });
  replace(inside(ask),
    h("div", { class: "row" },
      h("label", { class: "field" }, h("span", {}, "every record looks like at least k ="), k, h("span", { class: "muted" }, "records, itself among them")),
      h("label", { class: "field" }, h("span", {}, "records left out, at most"), most, h("span", { class: "muted" }, "%"))),
    h("div", { class: "row" }, go, said),
    h("p", { class: "hint" }, "Several methods are compared, as sdc protect does, and the one that loses least is taken."));

  async function protect(): Promise<void> {
    if (scan === null) return;
    go.disabled = true;
    done.hidden = true;
    try {
      await send("api/start/protect", { path: scan.path, roles: Object.fromEntries(chosen), k: Number(k.value), max_suppression: Number(most.value) });
      for (;;) {
        const told = (await (await server.ask("api/start/state")).json()) as Told;
        replace(said, told.busy ? visible(`${told.said.at(-1) ?? "beginning"} …`) : "");
        if (!told.busy) {
          if (told.error) throw new Error(told.error);
          if (told.result !== null) show(told.result);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, 400));
      }
    } catch (error) {
      fail(error);
    }
    go.disabled = false;
  }

  function show(result: Result): void {
    replace(inside(done),
      result.sentences.map((line) => h("p", {}, visible(line).slice(0, 1000))),
      h("p", {}, `Counted in the file: ${result.promises.map(visible).join("; ")}. Guarantee: ${visible(result.promise)}.`),
      result.risk && h("p", {}, h("strong", {}, "Risk: "), visible(result.risk)),
      result.utility && h("p", {}, h("strong", {}, "Use: "), visible(result.utility)),
      h("ul", { class: "met" }, result.files.map((file) => h("li", {}, button(`Save ${short(file.name, 70)}`, () => {
        server.ask(`api/start/file?kind=${file.kind}`).then(async (answer) => { download(file.name, await answer.blob()); announce(`${file.name} saved`); }).catch(fail);
      }, { "data-kind": file.kind }), " ", h("span", { class: "muted" }, FILES[file.kind] ?? "")))),
      h("p", { class: "hint" }, "They are in a private folder until the server ends: save what you need."));
    done.hidden = false;
    done.querySelector<HTMLElement>("h2")!.focus();
  }

  replace(root,
    h("header", {}, h("div", {}, h("h1", {}, "Protect a table"), h("p", { class: "muted" }, "From a file of this machine to one that may be given away."))),
    h("main", { id: "main", class: "start" }, wrong, choose, roles, ask, done),
    announcer());
  document.title = "Protect a table – sdc explorer";
  void look(folder);
}
