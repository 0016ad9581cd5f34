// Scales and axes drawn as SVG.
import { scaleLinear, scaleLog, type ScaleContinuousNumeric } from "d3-scale";
import { s } from "./dom";
import { num } from "./format";

export type Scale = ScaleContinuousNumeric<number, number>;

/** A scale over the data with a little air; logarithmic only where every value is positive. */
export function scale(extent: readonly [number, number], range: [number, number], log: boolean, air = 0.04): Scale {
  let [low, high] = extent;
  if (low === high) {
    const around = Math.abs(low) * 0.1 || 1;
    [low, high] = [low - around, high + around];
    if (log && low <= 0) low = high / 2;
  }
  if (log && low > 0) {
    const ratio = (high / low) ** air;
    return scaleLog().domain([low / ratio, high * ratio]).range(range);
  }
  const more = (high - low) * air;
  return scaleLinear().domain([low - more, high + more]).range(range);
}

export function ticks(of: Scale, wanted: number): number[] {
  const all = of.ticks(wanted);
  if (!("base" in of) || all.length <= wanted + 3) return all;
  // A logarithmic scale offers every digit: keep 1, 2 and 5, or the powers only.
  const leading = (v: number): number => Number(v.toExponential()[0]);
  const few = all.filter((v) => [1, 2, 5].includes(leading(v)));
  return few.length <= wanted + 3 ? few : all.filter((v) => leading(v) === 1);
}

export function bottomAxis(x: Scale, y: number, width: [number, number], wanted: number): SVGGElement {
  return s(
    "g",
    { class: "axis" },
    s("line", { x1: width[0], x2: width[1], y1: y, y2: y }),
    ticks(x, wanted).map((v) =>
      s(
        "g",
        { transform: `translate(${x(v)} ${y})` },
        s("line", { y2: 5 }),
        s("text", { y: 18, "text-anchor": "middle" }, num(v)),
      ),
    ),
  );
}

export function leftAxis(y: Scale, x: number, height: [number, number], wanted: number, gridTo?: number): SVGGElement {
  return s(
    "g",
    { class: "axis" },
    s("line", { x1: x, x2: x, y1: height[0], y2: height[1] }),
    ticks(y, wanted).map((v) =>
      s(
        "g",
        { transform: `translate(${x} ${y(v)})` },
        gridTo !== undefined && s("line", { class: "grid", x1: 0, x2: gridTo - x }),
        s("line", { x2: -5 }),
        s("text", { x: -8, dy: "0.32em", "text-anchor": "end" }, num(v)),
      ),
    ),
  );
}
