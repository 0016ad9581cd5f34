// The page: reads its data (inlined, or from the server), puts the parts together, keeps the address in step.
import { ANYTHING, refilter, concerns, FILTERS, type App, type Details, type Part } from "./app";
import { cardPart, shortlistPart } from "./card";
import { comparePart } from "./compare";
import { decidePart } from "./decide";
import { controlsPart } from "./controls";
import { announce, announcer, button, h, replace } from "./dom";
import { capital, count, short } from "./format";
import { guidePart } from "./guide";
import { homePart } from "./home";
import { Keeper, fromEntries } from "./keeper";
import { Server, StartsHere, useCode } from "./live";
import { mapPart } from "./map";
import { Model, skewed } from "./model";
import { parallelPart } from "./parallel";
import { progressPart } from "./progress";
import { startPage } from "./start";
import { solutionPart } from "./solution";
import { whole } from "./repeated";
import { Store, UNSAID, fromFragment, toFragment, type View } from "./state";
import { tablePart } from "./table";
import { usePart } from "./usefulness";
import { watchTheme } from "./theme";
import { checkPayload, FRONT, type Payload } from "./types";

const TITLES: Record<View, string> = { map: "Map", solution: "Solution", compare: "Compare", progress: "Progress", decide: "Decide", home: "Release & export" };

function fail(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  replace(document.getElementById("app")!, h("main", { class: "view" }, h("h1", {}, "Nothing to show"), h("p", { class: "notice" }, short(capital(text), 400))));
}

function inlined(): Payload | null {
  const data = document.getElementById("data");
  return data === null ? null : checkPayload(whole(JSON.parse(data.textContent)));
}

function fromReport(payload: Payload): Details {
  return {
    has: (key) => Object.hasOwn(payload.details ?? {}, key),
    get: (key) => Promise.resolve(payload.details?.[key] ?? null),
    brief: (key) => Promise.resolve(payload.details?.[key]?.sentences ?? (payload.briefs?.[key] ?? []).map((line) => payload.sentences?.[line] ?? "")),
  };
}

function storedShortlist(payload: Payload): Map<string, string> {
  return fromEntries(payload.runs.map((run) => run.shortlist));
}

/** How far the runs are, in a word or two. */
function progressOf(payload: Payload, at: string): string {
  const { runs } = payload;
  if (runs.every((run) => run.finished)) return "finished";
  if (runs.some((run) => run.status === "working")) return `live${at}`;
  const stopped = runs.filter((run) => !run.finished).map((run) => short(run.called, 40));
  return runs.length === 1 ? "stopped: go on with sdc resume" : `stopped: ${stopped.join(", ")}`;
}

function start(payload: Payload, details: Details, server: Server | null): App {
  const model = new Model(payload);
  const state = fromFragment(location.hash, payload.axes);
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("colour") && payload.runs.length > 1) state.colour = "run";
  if (!given.has("logX")) state.logX = skewed(model, state.x);
  if (!given.has("logY")) state.logY = skewed(model, state.y);
  if (state.shortlist.size === 0 || (server !== null && !server.readOnly)) state.shortlist = storedShortlist(payload);
  state.compare = state.compare.filter((key) => state.shortlist.has(key));
  const store = new Store(state);
  const app: App = { model, store, details, live: server, seen: new Uint8Array(0), selected: new Uint8Array(0) };
  refilter(app);

  const status = h("span", { class: "status" });
  const parts: Part[] = [controlsPart(app), mapPart(app), cardPart(app), parallelPart(app), tablePart(app), shortlistPart(app)];
  const views: Record<Exclude<View, "map">, Part> = { solution: solutionPart(app), compare: comparePart(app), progress: progressPart(app), decide: decidePart(app), home: homePart(app) };
  const use = usePart(app);
  views.compare.root.append(use.root);
  parts.push(use);
  const [controls, map, card, parallel, table, shortlist] = parts;
  const guide = guidePart(app);
  parts.push(guide);
  const mapView = h(
    "section",
    { class: "view", "aria-label": "Map" },
    h("h2", { class: "unseen", tabindex: -1 }, "Map"),
    table.root,
  );
  const charts = h("div", {}, map.root, parallel.root);
  table.root.before(h("div", { class: "two" }, charts, h("div", { class: "beside" }, card.root, shortlist.root)));
  // On a small screen the map comes first, in what is read and walked through as in what is seen.
  const small = matchMedia("(max-width: 560px)");
  const arrange = (): void => {
    if (small.matches) map.root.after(guide.root, controls.root);
    else charts.parentElement!.before(guide.root, controls.root);
  };
  arrange();
  small.addEventListener("change", arrange);
  const sections: Record<View, HTMLElement> = {
    map: mapView, solution: views.solution.root, compare: views.compare.root, progress: views.progress.root, decide: views.decide.root, home: views.home.root,
  };
  const links = (Object.keys(TITLES) as View[]).map((view) => button(TITLES[view], () => { store.set({ view }); }, { class: "tab", "data-view": view }));
  const back = server !== null && server.startBehind && button("Another table", () => {
    void server.ask("api/start/leave", { method: "POST", body: "{}" }).then(() => {
      history.replaceState(null, "", location.pathname);
      location.reload();
    });
  }, { class: "tab" });
  const title = h("h1", {});
  const subtitle = h("p", { class: "muted" });
  replace(
    document.getElementById("app")!,
    h("a", { class: "skip", href: "#main", onclick: (event: Event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    } }, "Skip to the content"),
    h("header", {}, h("div", {}, title, subtitle), h("nav", { "aria-label": "Views" }, links, back, status)),
    h("main", { id: "main", tabindex: -1 }, Object.values(sections)),
    h("footer", {}, h("p", { class: "muted" }, "Objective values and aggregates only; every bar stands for at least five records. Nothing on this page is loaded from elsewhere.")),
    announcer(),
  );

  function heading(): void {
    const { runs } = app.model.payload;
    let front = 0;
    for (const kind of app.model.kind) if (kind === FRONT) front += 1;
    const found = runs.reduce((sum, run) => sum + run.found, 0);
    const text = runs.length === 1 ? short(runs[0].label, 90) : `${runs.length} runs`;
    replace(title, text);
    replace(subtitle, `${[...new Set(runs.map((run) => short(run.task && run.algorithm ? `${run.task_title}, searched by ${run.algorithm_title}` : run.called, 140)))].slice(0, 4).join(" · ")}${runs[0].kept ? ` · ${short(runs[0].kept, 80)}` : ""} · ${count(found)} solutions measured, ${count(front)} on the front`);
    document.title = `${text} – sdc explorer`;
  }

  function show(moved: boolean): void {
    const { view } = store.state;
    for (const [name, section] of Object.entries(sections)) section.hidden = name !== view;
    for (const link of links) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (moved) {
      window.scrollTo(0, 0);
      requestAnimationFrame(() => { sections[view].querySelector<HTMLElement>("h2")?.focus({ preventScroll: true }); });
    }
  }

  const dragged = (changed: ReadonlySet<string>): boolean => store.moving && [...changed].every((key) => key === "ranges");

  function tell(changed: ReadonlySet<string>): void {
    if (concerns(changed, ...FILTERS)) refilter(app);
    if (concerns(changed, "view")) show(!changed.has("everything"));
    const all = [...parts, ...Object.values(views)];
    for (const part of dragged(changed) ? all.filter((one) => one.follows) : all) part.update(changed);
  }

  const keeper = server === null || server.readOnly ? null
    : new Keeper(server, store, payload.runs.length, state.shortlist, (text) => { status.textContent = short(text, 80); });
  let travelling = false; // back and forth in the browser's history adds nothing to it
  function keep(changed: ReadonlySet<string>): void {
    const fragment = `#${toFragment(store.state, app.model.axes, keeper === null)}`;
    if (fragment !== location.hash) {
      if (!travelling && (changed.has("view") || changed.has("current"))) history.pushState(null, "", fragment);
      else history.replaceState(null, "", fragment);
    }
    if (changed.has("shortlist")) keeper?.changed();
  }

  store.listen((changed) => {
    tell(changed);
    if (!dragged(changed)) keep(changed);
  });
  addEventListener("popstate", () => {
    travelling = true;
    const past = fromFragment(location.hash, app.model.axes);
    if (keeper !== null) past.shortlist = store.state.shortlist;
    past.compare = past.compare.filter((key) => past.shortlist.has(key));
    const unsaid = Object.fromEntries(UNSAID.map((name) => [name, store.state[name]]));
    store.set({ ...past, ...unsaid });
    // The store tells of the change in the next frame.
    requestAnimationFrame(() => { requestAnimationFrame(() => { travelling = false; }); });
  });

  heading();
  tell(ANYTHING);
  keep(new Set());

  if (server !== null) {
    const refresh = async (): Promise<void> => {
      const first = !app.model.kind.includes(FRONT);
      const document = await server.payload();
      const pointed = store.hover < 0 ? null : app.model.keys[store.hover]; // points have other numbers from now on
      app.model = new Model(document);
      if (first) store.set({ logX: skewed(app.model, store.state.x), logY: skewed(app.model, store.state.y) });
      refilter(app);
      heading();
      store.setHover(-1);
      tell(new Set(["data"]));
      store.setHover(app.model.find(pointed));
      keeper?.take(storedShortlist(document));
      status.textContent = progressOf(app.model.payload, ` · ${new Date().toLocaleTimeString("en-GB")}`);
    };
    status.textContent = progressOf(payload, "");
    void server.follow(refresh, (connected) => {
      if (!connected) {
        status.textContent = "connection lost, trying again";
        announce("connection to the server lost");
      }
    });
  }
  return app;
}

async function begin(): Promise<void> {
  watchTheme();
  try {
    const payload = inlined();
    if (payload !== null) {
      start(payload, fromReport(payload), null);
      return;
    }
    const refused = await useCode();
    const server = new Server();
    try {
      start(await server.payload().catch((error: unknown) => { throw error instanceof StartsHere ? error : (refused ?? error); }), server, server);
    } catch (error) {
      if (!(error instanceof StartsHere)) throw error;
      startPage(document.getElementById("app")!, server, error.folder);
    }
  } catch (error) {
    fail(error);
  }
}

void begin();
