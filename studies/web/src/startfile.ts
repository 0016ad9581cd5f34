// First part of the start page: the file, and how it is written.
import { announce, button, h, replace } from "./dom";
import { short } from "./format";
import type { Asking } from "./start";
import type { Scan } from "./startroles";

interface Listing { folder: string; parent: string; folders: string[]; files: string[] }

// Name of a field as the server takes it, what it is called, and what stands in it while it is empty.
const FIELDS: [string, string, string][] = [
  ["encoding", "Encoding", "as found"], ["delimiter", "Cells are separated by", "as found"], ["decimal", "Decimal mark", "."],
  ["thousands", "Mark between thousands", "none"], ["na_values", "Further texts that mean missing", "as usual"],
];
const MISSING: [string, string][] = [["category", "a category of their own"], ["star", "any value"], ["drop", "leave their records out"], ["error", "stop"]];

export function filePart(asking: Asking, folder: string, found: (scan: Scan) => void): HTMLElement {
  const place = h("input", { type: "text", id: "path", "aria-label": "Path of the file", autocomplete: "off", spellcheck: "false" });
  place.value = folder;
  const list = h("ul", { class: "files", tabindex: 0, "aria-label": "Files" });
  const reading = new Map(FIELDS.map(([name, , empty]) => [name, h("input", { type: "text", id: `reading-${name}`, placeholder: empty, autocomplete: "off", spellcheck: "false" })]));
  const missing = h("select", { id: "reading-missing" }, MISSING.map(([value, text]) => h("option", { value }, text)));
  const summary = h("summary", {}, "How the file is written");
  const how = h("details", { class: "written" }, summary,
    h("div", { class: "row" },
      FIELDS.map(([name, called]) => h("label", { class: "field" }, h("span", {}, called), reading.get(name))),
      h("label", { class: "field" }, h("span", {}, "Missing cells"), missing),
      button("Read it so", () => { void open(place.value.trim(), true); })));
  const join = (base: string, name: string): string => (base.endsWith("/") ? `${base}${name}` : `${base}/${name}`);

  async function look(where: string): Promise<void> {
    try {
      asking.wrong.hidden = true;
      const here = await asking.get<Listing>(`api/start/files?folder=${encodeURIComponent(where)}`);
      place.value = here.folder;
      const entry = (name: string, act: () => void): HTMLElement => h("li", {}, button(short(name, 60), act, { class: "link" }));
      replace(list,
        here.parent !== here.folder && entry("↑ one folder up", () => { void look(here.parent); }),
        here.files.map((name) => entry(name, () => { void open(join(here.folder, name)); })), // first: they are what is looked for
        here.files.length === 0 && h("li", { class: "muted" }, "No table here."),
        here.folders.map((name) => entry(`${name}/`, () => { void look(join(here.folder, name)); })));
    } catch (error) {
      asking.fail(error);
    }
  }

  /** Read a file, as it looks or as the fields say. */
  async function open(path: string, said = false): Promise<void> {
    announce("reading the file");
    try {
      const fields = Object.fromEntries([...reading].map(([name, field]) => [name, field.value]));
      const scan = await asking.send<Scan>("api/start/scan", said ? { path, reading: { ...fields, missing: missing.value } } : { path });
      place.value = path;
      how.hidden = scan.reading === null;
      for (const [name, field] of reading) field.value = scan.reading?.[name] ?? "";
      missing.value = scan.reading?.missing ?? "category";
      if (scan.reading !== null) {
        const { delimiter, encoding, decimal } = scan.reading;
        replace(summary, `Read as ${short(encoding, 30)}, cells separated by “${delimiter === "\\t" ? "tab" : delimiter}”, decimal mark “${decimal}”: change it`);
      }
      found(scan);
    } catch (error) {
      how.open = true;
      asking.fail(error);
    }
  }

  const upload = h("input", { type: "file", id: "upload", onchange: () => {
    const file = upload.files?.[0];
    if (file === undefined) return;
    asking.wrong.hidden = true;
    asking.server.ask(`api/start/upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file })
      .then(async (answer) => open(((await answer.json()) as { path: string }).path)).catch((error: unknown) => { asking.fail(error); });
  } });
  void look(folder);
  return h("div", {},
    h("div", { class: "place" }, place, button("Open", () => {
      const path = place.value.trim();
      if (/\.[A-Za-z0-9]{2,8}$/.test(path)) void open(path);
      else void look(path);
    }, { class: "primary" })),
    list,
    h("label", { class: "field" }, h("span", {}, "or hand one over"), upload),
    how,
    h("p", { class: "hint" }, "The file stays on this machine. One that is handed over lies in a private folder of this server and goes when it ends."));
}
