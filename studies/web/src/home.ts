// Release and export: the exact commands, the front as CSV, and (live) the release itself.
import { concerns, NeedsReason, type App, type Part } from "./app";
import { announce, append, button, h, replace } from "./dom";
import { download } from "./figure";
import { capital, quoted, short, visible } from "./format";
import { splitKey } from "./model";
import { FRONT } from "./types";

function command(label: string, line: string): HTMLElement {
  return h(
    "div",
    { class: "command" },
    h("span", { class: "muted" }, label),
    h("pre", { tabindex: 0, "aria-label": label }, line),
    button("Copy", () => {
      void copy(line).then((done) => { announce(done ? "copied" : "could not copy; select the line by hand"); });
    }, { class: "quiet", "aria-label": `Copy: ${label}` }),
  );
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // the browser keeps the clipboard closed; the line can be selected by hand
  }
}

/** A cell that no spreadsheet takes for a formula. */
export function csvCell(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function frontCsv(app: App): string {
  const { model } = app;
  const { points, runs } = model.payload;
  const head = ["run", "solution", "seed", "generation", "shortlist", "note", ...model.axes.map((axis) => (axis.unit ? `${axis.label} [${axis.unit}]` : axis.label))];
  const rows: (string | number)[][] = [];
  for (let i = 0; i < model.n; i++) {
    const key = model.keys[i];
    const listed = app.store.shortlisted(key);
    if (model.kind[i] !== FRONT && !listed) continue;
    rows.push([
      runs[points.run[i]].name, points.id[i], points.seed[i], points.generation[i], listed ? "yes" : "",
      app.store.state.shortlist.get(key) ?? "", ...model.axes.map((_, a) => model.value(a, i)),
    ]);
  }
  return [head, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** Commands of a solution; what leaves unchanged is said with it, or `usual` is told that it is as in the whole run. */
export function commands(app: App, key: string, usual?: () => void): HTMLElement {
  const [run, id] = splitKey(key);
  const folder = quoted(app.model.payload.runs[run].name);
  const file = `released-${id.replace(/[^A-Za-z0-9-]+/g, "-").slice(0, 40)}.csv`;
  const leaving = h("div", { class: "leaving" });
  const tell = (lines: string[]): void => { replace(leaving, lines.map((line) => h("p", {}, visible(line).slice(0, 2000)))); };
  const whole = app.model.payload.runs[run].leaving;
  tell(usual === undefined ? whole : []);
  void app.details.get(key).then((detail) => {
    const mine = detail === null || detail.leaving.length === 0 ? whole : detail.leaving;
    if (usual !== undefined && mine.join() === whole.join()) usual();
    else tell(mine);
  });
  const root = h(
    "div",
    { class: "take" },
    leaving,
    command("Release it", `sdc release ${folder} --solution ${quoted(id)} --out ${quoted(file)}`),
  );
  if (app.live !== null && !app.live.readOnly) root.append(release(app, key));
  return root;
}

/** How to repeat a run, and what the commands do. */
export function repeatRun(app: App, run: number): HTMLElement {
  return h(
    "div",
    { class: "take" },
    command("Repeat the run", visible(app.model.payload.runs[run].repeat)),
    h("p", { class: "hint" }, "Start both where the run folder is. The release writes the protected file with its rows shuffled, its value mapping and its rows file (what became what, and which row is whose: for the holder of the data only) and a certificate whose guarantees are counted again in the written file. The run is repeated by the study in its folder, into a new one. With the versions below a repeated run gives the same bytes."),
  );
}

/** The release itself: what it would meet is said before the click. */
function release(app: App, key: string): HTMLElement {
  const told = h("div", { class: "terms" }, h("p", { class: "muted" }, "Looking at what a release would meet …"));
  const result = h("div", { role: "status" });
  const reason = h("textarea", { rows: 2, maxlength: 1000, "aria-label": "Reason to release it in spite of this" });
  const go = button("Release this solution now", () => { run(); }, { class: "primary" });
  const anyway = button("Release it in spite of this", () => {
    if (reason.value.trim() === "") reason.focus();
    else run(reason.value.trim());
  });

  function run(why?: string): void {
    go.disabled = anyway.disabled = true;
    replace(result, h("p", { class: "muted" }, "Releasing and checking …"));
    app.live!.release(key, why).then(
      (done) => {
        go.disabled = anyway.disabled = false;
        replace(
          result,
          done.summary.map((line) => h("p", {}, visible(line))),
          h("p", {}, "Save a copy:"),
          h("div", { class: "row" }, done.files.map((file) =>
            button(short(file.name, 60), () => {
              void app.live!.fetchReleased(key, file.kind).then((blob) => { download(file.name, blob); });
            }),
          )),
        );
      },
      (error: unknown) => {
        go.disabled = anyway.disabled = false;
        if (error instanceof NeedsReason) ask([error.message]);
        replace(result, !(error instanceof NeedsReason) && h("p", { class: "notice" }, error instanceof Error ? visible(error.message) : "it could not be released"));
      },
    );
  }

  /** What speaks against it, and where the reason goes. */
  function ask(broken: string[]): void {
    replace(
      told,
      h("div", { class: "notice" }, h("p", {}, "This speaks against releasing it:"), h("ul", {}, broken.map((line) => h("li", {}, visible(line)))), h("p", {}, "Choose another solution, or give the reason for this one. The certificate repeats it.")),
      h("label", {}, "Reason ", reason),
      h("div", { class: "row" }, anyway),
    );
  }

  app.live!.terms(key).then(
    ({ refused, broken, met, files }) => {
      if (refused !== "") replace(told, h("p", { class: "notice" }, `This cannot be released: ${visible(refused)}.`));
      else if (broken.length > 0) ask(broken);
      else replace(told, h("div", { class: "row" }, go));
      const [file, certificate, ...own] = files.map((name) => short(name, 120));
      append(told, [
        met.map((line) => h("p", { class: "met" }, `✓ ${visible(capital(line))}.`)),
        refused === "" && h("p", { class: "hint" }, `Writes ${file} and ${certificate}, to be passed on, and for you only ${own.join(" and ")}, beside the run folder; a release of the same solution that is there is replaced.`),
      ]);
    },
    (error: unknown) => { replace(told, h("p", { class: "notice" }, error instanceof Error ? visible(error.message) : "the server does not answer")); },
  );
  return h("div", { class: "release" }, told, result);
}

export function homePart(app: App): Part {
  const { store } = app;
  const root = h("section", { class: "view home", "aria-label": "Release & export" });

  function build(): void {
    const { model } = app;
    const { runs, made_with } = model.payload;
    const wanted = [...new Set([...(store.state.current !== null ? [store.state.current] : []), ...store.state.shortlist.keys()])].filter((key) => {
      const i = model.find(key);
      return i >= 0 && model.kind[i] < 4;
    });
    replace(
      root,
      h("h2", { tabindex: -1 }, "Release & export"),
      wanted.length === 0 && h("p", {}, "Choose a solution, or put some on the shortlist: their commands appear here."),
      [...new Set(wanted.map((key) => splitKey(key)[0]))].map((run) => {
        const mine = wanted.filter((key) => splitKey(key)[0] === run);
        const once = h("div", { class: "leaving" });
        const usual = (): void => { replace(once, runs[run].leaving.map((line) => h("p", {}, visible(line).slice(0, 2000)))); };
        return [
          runs.length > 1 && h("h3", {}, short(runs[run].called, 80)),
          once,
          mine.map((key) => h("article", {}, h("h3", {}, capital(short(model.name(model.find(key)), 80))), store.state.shortlist.get(key) && h("p", { class: "note" }, visible(store.state.shortlist.get(key) ?? "")), commands(app, key, usual))),
          repeatRun(app, run),
        ];
      }),
      h("h3", {}, "The front"),
      h("div", { class: "row" }, button("Save the front and the shortlist as CSV", () => {
        download("front.csv", new Blob([frontCsv(app)], { type: "text/csv" }));
        announce("front.csv saved");
      })),
      h("h3", {}, "Where it comes from"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Where it comes from" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ["Run", "Task", "Search", "Records", "Begun", "SHA-256 of the data", "SHA-256 of the run", "Versions"].map((text) => h("th", { scope: "col" }, text)))),
          h(
            "tbody",
            {},
            runs.map((run) =>
              h("tr", {}, h("th", { scope: "row" }, short(run.called, 40)), h("td", {}, short(run.task_title, 80)), h("td", {}, short(run.algorithm_title, 60)), h("td", {}, short(run.kept, 80)), h("td", {}, short(run.created.slice(0, 16).replace("T", " "), 20)),
                h("td", {}, h("code", { title: short(run.data_digest, 64) }, short(run.data_digest.slice(0, 16), 16))), h("td", {}, h("code", { title: short(run.fingerprint, 64) }, short(run.fingerprint.slice(0, 16), 16))),
                h("td", {}, Object.entries(run.versions).map(([name, version]) => `${short(name, 20)} ${short(version, 20)}`).join(", "))),
            ),
          ),
        ),
      ),
      h("p", { class: "muted" }, `Made with sdc-problems ${short(made_with, 20)}. This page holds objective values and aggregates of at least five records, no records.`),
    );
  }

  return {
    root,
    update(changed) {
      if (store.state.view === "home" && concerns(changed, "view", "current", "shortlist", "data")) build();
    },
  };
}
