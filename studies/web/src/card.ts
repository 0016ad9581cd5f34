// The point in hand, beside the map: what it does, what it scores, what can be done with it; and the shortlist.
import { concerns, type App, type Part } from "./app";
import { announce, button, h, replace, refocus } from "./dom";
import { short, withUnit } from "./format";
import { MOST_COMPARED } from "./state";
import { ORIGINAL } from "./types";

export function measureList(app: App, i: number): HTMLElement {
  return h(
    "dl",
    { class: "measures" },
    app.model.axes.map((axis, a) =>
      h(
        "div",
        {},
        h("dt", {}, short(axis.label, 60), h("span", { class: "way" }, axis.sense === "min" ? "↓ better" : "↑ better")),
        h("dd", {}, withUnit(app.model.value(a, i), axis.unit)),
      ),
    ),
  );
}

export function shortlistButton(app: App, key: string): HTMLButtonElement {
  const on = app.store.shortlisted(key);
  return button(on ? "★ On the shortlist" : "☆ Shortlist", () => {
    app.store.toggleShortlist(key);
    announce(app.store.shortlisted(key) ? "put on the shortlist" : "taken off the shortlist");
  }, { "aria-pressed": on ? "true" : "false", "data-action": "shortlist" });
}

export function cardPart(app: App): Part {
  const { store } = app;
  const root = h("aside", { class: "card", "aria-label": "The point in hand" });
  let shownFor = "";

  function build(): void {
    const i = app.model.find(store.state.current);
    const focused = root.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.action : undefined;
    if (i < 0) {
      shownFor = "";
      replace(
        root,
        h("h3", {}, "No point chosen"),
        h("p", {}, "Every point on the map is one way to protect the table. The filled circles are the front: trade-offs that no other one beats in everything."),
        h("p", {}, "Choose a point to read what it does to the data."),
      );
      return;
    }
    const key = app.model.keys[i];
    const lines = h("div", { class: "sentences" });
    replace(
      root,
      h("h3", {}, short(app.model.name(i), 80)),
      h("p", { class: "muted" }, `${app.model.kindName(i)} · ${short(app.model.runName(app.model.run[i]), 60)}${app.model.usable[i] ? "" : " · does not meet the requirements"}`),
      measureList(app, i),
      lines,
      app.model.kind[i] === ORIGINAL
        ? h("p", {}, "The table as it is: nothing is protected, nothing is lost.")
        : h(
            "div",
            { class: "row" },
            button("Understand it", () => { store.set({ view: "solution" }); }, { class: "primary", "data-action": "open" }),
            shortlistButton(app, key),
          ),
    );
    if (focused !== undefined) refocus(root.querySelector<HTMLElement>(`[data-action="${focused}"]`));
    if (app.model.kind[i] !== ORIGINAL) {
      shownFor = key;
      void app.details.brief(key).then((sentences) => {
        if (shownFor === key) replace(lines, sentences.map((text) => h("p", {}, short(text, 600))));
      });
    }
  }

  return {
    root,
    update(changed) {
      if (concerns(changed, "current", "shortlist", "data")) build();
    },
  };
}

export function shortlistPart(app: App): Part {
  const { store } = app;
  const root = h("section", { class: "shortlist", "aria-labelledby": "shortlist-title" });
  let shown: { key: string; here: boolean; box: HTMLInputElement; note: HTMLTextAreaElement }[] = [];
  const go = button("", () => { store.set({ view: "compare" }); }, { class: "primary", id: "compare-chosen" });
  const hint = h("span", { class: "muted" });

  /** Notes and ticks change in place: what a key is pressed on must still be there when it is released. */
  function refresh(): void {
    const { shortlist, compare } = store.state;
    for (const { key, here, box, note } of shown) {
      box.checked = compare.includes(key);
      box.disabled = !here || (!box.checked && compare.length >= MOST_COMPARED);
      const text = shortlist.get(key) ?? "";
      if (note.value !== text) note.value = text;
    }
    replace(go, `Compare ${compare.length || ""} side by side`.replace("  ", " "));
    go.disabled = compare.length < 2;
    replace(hint, compare.length < 2 ? "Tick two to four." : "");
  }

  function build(): void {
    const active = document.activeElement as HTMLElement | null;
    const focused = root.contains(active) ? active?.id : undefined;
    const entries = [...store.state.shortlist.keys()];
    shown = [];
    replace(
      root,
      h("h3", { id: "shortlist-title" }, "Shortlist"),
      h(
        "p",
        { class: "hint" },
        app.live === null
          ? "Kept in the address of this page: copy the address to pass it on."
          : app.live.readOnly
            ? "Read only: the shortlist of the run folder is shown; changes are not kept."
            : "Kept in the run folder.",
      ),
      entries.length === 0
        ? h("p", { class: "muted" }, "Empty. Put a solution here with ☆ or the S key.")
        : h(
            "ul",
            {},
            entries.map((key, at) => {
              const i = app.model.find(key);
              const name = i >= 0 ? app.model.name(i) : `${key} (not in this page)`;
              const note = h("textarea", {
                rows: 1, id: `note-${at}`, maxlength: 2000, placeholder: "Note", "aria-label": `Note on ${short(name, 60)}`,
                oninput: () => { store.note(key, note.value); },
              });
              const box = h("input", { type: "checkbox", id: `compare-${at}`, onchange: () => { store.toggleCompare(key); } });
              shown.push({ key, here: i >= 0, box, note });
              return h(
                "li",
                {},
                h(
                  "div",
                  { class: "row" },
                  button(short(name, 40), () => { store.set({ current: key }); }, { class: "link", id: `pick-${at}`, disabled: i < 0 }),
                  h("label", { class: "check" }, box, h("span", {}, "compare")),
                  button("Remove", () => { store.toggleShortlist(key); }, { class: "quiet", id: `remove-${at}`, "aria-label": `Remove ${short(name, 60)}` }),
                ),
                i >= 0 && h("p", { class: "muted" }, app.model.axes.map((axis, a) => `${short(axis.label, 30)} ${withUnit(app.model.value(a, i), axis.unit)}`).join(" · ")),
                note,
              );
            }),
          ),
      entries.length > 0 && h("div", { class: "row" }, go, hint),
    );
    refresh();
    if (focused) refocus(document.getElementById(focused));
  }

  return {
    root,
    update(changed) {
      if (!concerns(changed, "compare", "shortlist", "data")) return;
      const same = shown.map((one) => one.key).join("\n") === [...store.state.shortlist.keys()].join("\n");
      if (same && shown.length > 0 && !concerns(changed, "data")) refresh();
      else build();
    },
  };
}

