// A chart with its title, its buttons (SVG, PNG) and its numbers as a table; and the export of both formats.
import { announce, button, h, s, uid, type Child } from "./dom";
import { short } from "./format";
import { svgMark, type Shape } from "./painter";
import { inLight, theme } from "./theme";

const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-size",
  "font-family", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility",
];

/** An entry of an exported picture's legend: a mark, or a line. */
export interface Entry {
  text: string;
  colour: string;
  shape: Shape | "line";
  dash?: string;
}

export interface Figure {
  root: HTMLElement;
  body: HTMLElement;
}

/** A figure whose body the caller fills; `picture` gives the exported SVG. */
export function figure(title: string, picture: () => SVGSVGElement | null, caption: Child = null, legend: () => Entry[] = () => []): Figure {
  const id = uid("figure");
  const body = h("div", { class: "chart" });
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) || "chart";
  const save = (kind: "svg" | "png"): void => {
    const drawn = inLight(() => {
      const inner = picture();
      return inner === null ? null : framed(title, inner, legend());
    });
    if (drawn === null) return;
    if (kind === "svg") download(`${name}.svg`, new Blob([serialised(drawn)], { type: "image/svg+xml" }));
    else void png(drawn).then((blob) => { download(`${name}.png`, blob); });
    announce(`${title} saved as ${kind.toUpperCase()}`);
  };
  const root = h(
    "figure",
    { "aria-labelledby": id },
    h(
      "figcaption",
      {},
      h("h3", { id }, title),
      h(
        "div",
        { class: "tools" },
        button("SVG", () => { save("svg"); }, { class: "quiet", "aria-label": `Save “${short(title, 60)}” as SVG` }),
        button("PNG", () => { save("png"); }, { class: "quiet", "aria-label": `Save “${short(title, 60)}” as PNG` }),
      ),
      caption !== null && h("p", { class: "hint" }, caption),
    ),
    body,
  );
  return { root, body };
}

/** A figure around one SVG that is drawn once. */
export function svgFigure(title: string, drawn: SVGSVGElement, caption: Child = null, extra: Child = null, legend?: () => Entry[]): HTMLElement {
  const { root, body } = figure(title, () => exported(drawn), caption, legend);
  body.appendChild(drawn);
  if (drawn.classList.contains("fixed")) {
    // It keeps its size and scrolls where the page is narrower: then the keyboard must be able to scroll it.
    for (const [name, value] of Object.entries({ class: "chart scrolls", tabindex: "0", role: "group", "aria-label": title })) {
      body.setAttribute(name, value);
    }
  }
  if (extra instanceof Node) root.appendChild(extra);
  return root;
}

/** A copy that needs no style sheet: what the screen shows is written into the elements. */
export function exported(drawn: SVGSVGElement): SVGSVGElement {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const originals = [drawn, ...drawn.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const property of KEPT) {
      const value = style.getPropertyValue(property);
      if (value) copies[i].setAttribute(property, value);
    }
    copies[i].removeAttribute("class");
  });
  // What is not seen is not in the picture, nor what only listens to the pointer.
  originals.forEach((element, i) => {
    const style = getComputedStyle(element);
    if (element.matches("rect.overlay, .handle") || style.display === "none" || style.visibility === "hidden") copies[i].remove();
  });
  const box = drawn.getBoundingClientRect();
  const width = Math.round(box.width) || Number(drawn.getAttribute("width")) || 640;
  const height = Math.round(box.height) || Number(drawn.getAttribute("height")) || 400;
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.insertBefore(s("rect", { width: "100%", height: "100%", fill: theme().paper }), copy.firstChild);
  return copy;
}

/** A picture with its title above and its legend below. */
function framed(title: string, inner: SVGSVGElement, legend: Entry[]): SVGSVGElement {
  const t = theme();
  const wide = Math.max(320, Number(inner.getAttribute("width")));
  const tall = Number(inner.getAttribute("height"));
  const font = { "font-family": "system-ui, sans-serif", fill: t.ink };
  const marks: SVGElement[] = [];
  let [x, y] = [12, tall + 52];
  for (const { text, colour, shape, dash } of legend) {
    const long = 26 + 7 * text.length;
    if (x > 12 && x + long > wide) [x, y] = [12, y + 20];
    marks.push(shape === "line"
      ? s("line", { x1: x - 6, x2: x + 12, y1: y - 4, y2: y - 4, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash ?? null })
      : svgMark(shape, x + 3, y - 4, colour, shape === "dot" ? 4 : 4.5));
    marks.push(s("text", { x: x + 16, y, "font-size": 12, ...font }, short(text, 80)));
    x += long;
  }
  const height = tall + 36 + (legend.length > 0 ? y - tall - 52 + 28 : 0);
  inner.setAttribute("y", "30");
  return s(
    "svg",
    { width: wide, height, viewBox: `0 0 ${wide} ${height}` },
    s("rect", { width: "100%", height: "100%", fill: t.paper }),
    s("text", { x: 6, y: 20, "font-size": 15, "font-weight": 600, ...font }, short(title, 120)),
    inner,
    marks,
  );
}

// XML knows neither control characters nor U+FFFE and U+FFFF.
const NOT_IN_XML = /[^\t\n\r\u0020-\ud7ff\ud800-\udfff\ue000-\ufffd]/g;

export function serialised(drawn: SVGSVGElement): string {
  drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawn).replace(NOT_IN_XML, "\ufffd")}\n`;
}

export async function png(drawn: SVGSVGElement): Promise<Blob> {
  const width = Number(drawn.getAttribute("width"));
  const height = Number(drawn.getAttribute("height"));
  const url = URL.createObjectURL(new Blob([serialised(drawn)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = h("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d")?.drawImage(image, 0, 0, width * 2, height * 2);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null) reject(new Error("the picture could not be made"));
        else resolve(blob);
      }, "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = h("a", { href: url, download: name });
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => { URL.revokeObjectURL(url); }, 10_000);
}

/** Numbers behind a chart, for those who cannot see it or do not trust it. */
export function numbers(caption: string, head: string[], rows: (string | number)[][]): HTMLElement {
  return h(
    "details",
    { class: "numbers" },
    h("summary", {}, `Numbers: ${caption}`),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h("tr", {}, row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell)))),
          ),
        ),
      ),
    ),
  );
}

/** A color of the style sheet (`var(--name)`) as it is now. */
export function resolved(paint: string): string {
  const name = /^var\((.+)\)$/.exec(paint)?.[1];
  return name === undefined ? paint : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
