// A chart with its title, its buttons (SVG, PNG) and its numbers as a table; and the export of both formats.
import { announce, button, h, s, uid, type Child } from "./dom";
import { short } from "./format";
import { theme } from "./theme";

const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-size",
  "font-family", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility",
];

export interface Figure {
  root: HTMLElement;
  body: HTMLElement;
}

/** A figure whose body the caller fills; `picture` gives the exported SVG. */
export function figure(title: string, picture: () => SVGSVGElement | null, caption: Child = null): Figure {
  const id = uid("figure");
  const body = h("div", { class: "chart" });
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) || "chart";
  const save = (kind: "svg" | "png"): void => {
    const drawn = picture();
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
export function svgFigure(title: string, drawn: SVGSVGElement, caption: Child = null, extra: Child = null): HTMLElement {
  const { root, body } = figure(title, () => exported(drawn), caption);
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

export function serialised(drawn: SVGSVGElement): string {
  drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawn)}\n`;
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
