// Marks on a canvas for the screen, or as SVG elements for an exported picture: the same calls for both.
import { s } from "./dom";

export type Shape = "dot" | "ring" | "disc" | "diamond" | "square";

export interface Painter {
  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number): void;
  line(points: readonly [number, number][], colour: string, width: number, alpha: number): void;
}

export class CanvasPainter implements Painter {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = colour;
    if (shape === "dot") {
      c.fillRect(x - size / 2, y - size / 2, size, size);
      return;
    }
    c.beginPath();
    if (shape === "diamond") {
      c.moveTo(x, y - size);
      c.lineTo(x + size, y);
      c.lineTo(x, y + size);
      c.lineTo(x - size, y);
      c.closePath();
    } else if (shape === "square") c.rect(x - size, y - size, 2 * size, 2 * size);
    else c.arc(x, y, size, 0, 2 * Math.PI);
    if (shape === "ring") {
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

  mark(shape: Shape, x: number, y: number, colour: string, size: number, alpha: number): void {
    const at = [x.toFixed(1), y.toFixed(1)];
    const common = shape === "ring" ? { fill: "none", stroke: colour, "stroke-width": 1.3 } : { fill: colour };
    const half = shape === "dot" ? size / 2 : size;
    if (shape === "disc" || shape === "ring") {
      this.group.appendChild(s("circle", { cx: at[0], cy: at[1], r: size, opacity: alpha, ...common }));
    } else {
      const turn = shape === "diamond" ? `rotate(45 ${at[0]} ${at[1]})` : null;
      const box = { x: (x - half).toFixed(1), y: (y - half).toFixed(1), width: 2 * half, height: 2 * half };
      this.group.appendChild(s("rect", { ...box, opacity: alpha, transform: turn, ...common }));
    }
  }

  line(points: readonly [number, number][], colour: string, width: number, alpha: number): void {
    const text = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    this.group.appendChild(
      s("polyline", { points: text, fill: "none", stroke: colour, "stroke-width": width, opacity: alpha }),
    );
  }
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
