// Elements without markup: whatever text comes in becomes a text node or an attribute's value.

type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Child = Node | string | number | null | undefined | false | Child[];

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Record<string, Value>, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS<K>(SVG, name);
  fill(element, attributes, children);
  return element;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

let counter = 0;
export function uid(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}`;
}

export function button(label: string, action: () => void, attributes: Record<string, Value> = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick: action, ...attributes }, label);
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLLabelElement {
  const box = h("input", { type: "checkbox", onchange: () => { change(box.checked); } });
  box.checked = checked;
  return h("label", { class: "check" }, box, h("span", {}, label));
}

export function select(
  label: string,
  options: { value: string; text: string }[],
  value: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const list = h("select", { onchange: () => { change(list.value); } });
  for (const option of options) list.appendChild(h("option", { value: option.value }, option.text));
  list.value = value;
  return h("label", { class: "field" }, h("span", {}, label), list);
}

let live: HTMLElement | null = null;
export function announcer(): HTMLElement {
  live ??= h("div", { class: "unseen", role: "status", "aria-live": "polite" });
  return live;
}
export function announce(text: string): void {
  announcer().textContent = text;
}

/** Give the keyboard's place back after a part was drawn anew; the page stays where it is. */
export function refocus(element: HTMLElement | null | undefined): void {
  element?.focus({ preventScroll: true });
}
