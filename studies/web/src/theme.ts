// Colors as the style sheet has them, for canvases and exported pictures.

export interface Theme {
  ink: string;
  muted: string;
  paper: string;
  rule: string;
  dominated: string;
  own: string;
  front: string;
  baseline: string;
  original: string;
  accent: string;
  series: string[];
}

let cached: Theme | null = null;

export function theme(): Theme {
  if (cached === null) {
    const style = getComputedStyle(document.documentElement);
    const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    cached = {
      ink: read("ink"), muted: read("muted"), paper: read("paper"), rule: read("rule"),
      dominated: read("dominated"), own: read("own"), front: read("front"), baseline: read("baseline"),
      original: read("original"), accent: read("accent"),
      series: [1, 2, 3, 4, 5, 6, 7, 8].map((i) => read(`series-${i}`)),
    };
  }
  return cached;
}

/** Draw as on white paper, whatever the screen shows: exported pictures are printed and pasted elsewhere. */
export function inLight<T>(draw: () => T): T {
  const root = document.documentElement;
  root.dataset.theme = "light";
  cached = null;
  try {
    return draw();
  } finally {
    delete root.dataset.theme;
    cached = null;
  }
}

const listeners: (() => void)[] = [];
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function watchTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    cached = null;
    for (const listener of listeners) listener();
  });
}

/** The same for an SVG of the page, which follows the theme, and is exported in another. */
export function seriesPaint(i: number): string {
  const many = theme().series.length;
  return `var(--series-${((i % many) + many) % many + 1})`;
}

/** Color of run or seed number i; the shapes of the map tell kinds apart without color. */
export function seriesColour(i: number): string {
  const { series } = theme();
  return series[((i % series.length) + series.length) % series.length];
}
