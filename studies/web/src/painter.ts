// Marks on a canvas for the screen, or as SVG elements for an exported picture: the same calls for both.
import { s } from "./dom";

export type Shape = "dot" | "ring" | "disc" | "diamond" | "square" | "triangle" | "wedge" | "cross" | "bar";

/** Corners of the shapes that have some, around 0; each covers about the area of a disc of radius 1. */
const CORNERS: Partial<Record<Shape, readonly [number, number][]>> = {
  diamond: [[0, -1], [1, 0], [0, 1], [-1, 0]],
  square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  triangle: [[0, -1.25], [1.15, 0.85], [-1.15, 0.85]],
  wedge: [[0, 1.25], [1.15, -0.85], [-1.15, -0.85]],
  cross: [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
  bar: [[-1.5, -0.6], [1.5, -0.6], [1.5, 0.6], [-1.5, 0.6]],
};

/** Shapes of the runs that share a map. */
export const RUN_SHAPES: readonly Shape[] = ["disc", "triangle", "wedge", "cross", "bar"];

export interface Painter {
  /** A mark; a hollow one is an outline. */
  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number, hollow?: boolean): void;
  line(points: readonly [number, number][], colour: string, width: number, alpha: number): void;
}

export class CanvasPainter implements Painter {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number, hollow = shape === "ring"): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = colour;
    if (shape === "dot") {
      c.fillRect(Math.round(x - size / 2), Math.round(y - size / 2), size, size); // on whole pixels: thousands are fast
      return;
    }
    c.beginPath();
    const corners = CORNERS[shape];
    if (corners !== undefined) {
      for (const [dx, dy] of corners) c.lineTo(x + dx * size, y + dy * size);
      c.closePath();
    } else c.arc(x, y, size, 0, 2 * Math.PI);
    if (hollow) {
      c.strokeStyle = colour;
      c.lineWidth = 1.3;
      c.stroke();
    } else c.fill();
  }

  line(points: readonly [number, number][], colour: string, width: number, alpha: number): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.beginPath();
    points.forEach(([x, y], i) => {
      if (i === 0) c.moveTo(x, y);
      else c.lineTo(x, y);
    });
    c.stroke();
  }
}

export class SvgPainter implements Painter {
  readonly group = s("g");

  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number, hollow = shape === "ring"): void {
    this.group.appendChild(svgMark(shape, x, y, colour, size, alpha, hollow));
  }

  line(points: readonly [number, number][], colour: string, width: number, alpha: number): void {
    const text = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    this.group.appendChild(
      s("polyline", { points: text, fill: "none", stroke: colour, "stroke-width": width, opacity: alpha }),
    );
  }
}

export function svgMark(shape: Shape, x: number, y: number, colour: string, size: number, alpha = 1, hollow = shape === "ring"): SVGElement {
  const common = hollow ? { fill: "none", stroke: colour, "stroke-width": 1.3, opacity: alpha } : { fill: colour, opacity: alpha };
  const at = (v: number): string => String(Number(v.toFixed(1)));
  if (shape === "dot") return s("rect", { x: at(x - size / 2), y: at(y - size / 2), width: size, height: size, ...common });
  const corners = CORNERS[shape];
  if (corners === undefined) return s("circle", { cx: at(x), cy: at(y), r: size, ...common });
  return s("polygon", { points: corners.map(([dx, dy]) => `${at(x + dx * size)},${at(y + dy * size)}`).join(" "), ...common });
}

/** Prepare a canvas for its size on screen; whatever was on it is gone. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser draws no canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
