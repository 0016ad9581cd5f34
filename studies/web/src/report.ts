// A report of the server, put into the page: its elements are made anew, of those that are known and harmless only.
import { append, h, s, type Child } from "./dom";

const HTML = new Set(["article", "p", "h1", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "div", "span", "ul", "li", "strong"]);
const PICTURE = new Set(["svg", "g", "rect", "line", "path", "text", "title", "circle", "polyline"]);
const ATTRIBUTES = new Set(["class", "viewBox", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "d", "points", "cx", "cy", "r", "text-anchor", "role", "aria-label", "transform", "scope"]);
const LOWER = 2; // what is a page of its own begins with h1, and here it stands below an h2

/** The report of an address as a part of this page. No script of it runs, and nothing in it is loaded. */
export async function report(address: string): Promise<HTMLElement> {
  const read = new XMLHttpRequest(); // parses a document without running it, which Trusted Types leave to no other
  read.open("GET", address);
  read.responseType = "document";
  const found = await new Promise<Document | null>((resolve) => {
    read.onloadend = () => { resolve(read.status === 200 ? read.responseXML : null); };
    read.send();
  });
  const root = h("div", { class: "report" });
  if (found !== null) append(root, [...(found.querySelector("main") ?? found.body).childNodes].map(copied));
  return root;
}

function copied(node: Node): Child {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element)) return null;
  const name = node.localName;
  const attributes = Object.fromEntries([...node.attributes].filter((one) => ATTRIBUTES.has(one.name)).map((one) => [one.name, one.value]));
  const children = [...node.childNodes].map(copied);
  const heading = /^h([1-4])$/.exec(name);
  if (heading !== null) return h(`h${Math.min(Number(heading[1]) + LOWER, 6)}` as "h3", attributes, children);
  if (PICTURE.has(name)) return s(name as "g", attributes, children);
  if (name === "table") return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table of ${[...node.querySelectorAll("thead th")].map((cell) => cell.textContent).join(", ")}` }, h("table", attributes, children));
  return HTML.has(name) ? h(name as "div", attributes, children) : children;
}
