// Numbers and names as people read them.
import type { Axis } from "./types";

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return plain.format(value);
}

/** Three to four significant digits; large and tiny numbers stay short. */
export function num(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e9 || size < 1e-4) return value.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  if (Number.isInteger(value) || size >= 1000) return plain.format(value).replace("-", "−");
  const digits = size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : Math.min(7, 3 - Math.ceil(Math.log10(size)));
  return String(Number(value.toFixed(digits))).replace("-", "−");
}

export function withUnit(value: number | null | undefined, unit: string): string {
  return unit ? `${num(value)} ${value === 1 && unit === "records" ? "record" : unit}` : num(value);
}

export function axisTitle(axis: Axis): string {
  return axis.unit ? `${short(axis.label, 60)} [${axis.unit}]` : short(axis.label, 60);
}

/** A name that no layout breaks on: control and direction characters are shown as what they are. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/g, "\ufffd");
}

export function short(text: string, most: number): string {
  const shown = visible(text);
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`;
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${num(Number(seconds.toFixed(1)))} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** A label for a bin between inner edges that is open at both ends. */
export function binLabel(edges: number[], i: number): string {
  if (edges.length === 0) return "all";
  if (i === 0) return `< ${num(edges[0])}`;
  if (i === edges.length) return `≥ ${num(edges[i - 1])}`;
  return `${num(edges[i - 1])} – ${num(edges[i])}`;
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A sentence with a capital; a symbol such as k stays small. */
export function capital(text: string): string {
  return /^[a-z] /.test(text) && !text.startsWith("a ") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
