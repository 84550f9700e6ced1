import { load } from "../field/load.js";
import type { Point } from "./in-turns.js";

/** The parts of Observable Plot, and of the document that it draws in, that are used. */
interface Plot {
  plot(options: object): { outerHTML: string };
  line(data: readonly object[], options: object): object;
  dot(data: readonly object[], options: object): object;
  text(data: readonly object[], options: object): object;
}
interface Dom {
  parseHTML(html: string): { document: object };
}

const COLOURS = { "wall clock": "#b45309", processor: "#1d4ed8" };

/** A curve over sizes, as SVG that stands alone: milliseconds from 0, sizes by powers of ten. */
export async function curve(points: readonly Point[], { title, of }: { readonly title: string; readonly of: string }): Promise<string> {
  const { plot, line, dot, text } = (await load("@observablehq/plot")) as Plot;
  const { document } = ((await load("linkedom")) as Dom).parseHTML("<html></html>");
  const rows = points.flatMap(({ size, ms, cpuMs }) => [
    { size, ms, what: "wall clock" },
    { size, ms: cpuMs, what: "processor" },
  ]);
  const channels = { x: "size", y: "ms", stroke: "what" };
  const drawn = plot({
    document,
    width: 640,
    height: 300,
    marginLeft: 50,
    marginRight: 90,
    style: { background: "white", color: "#1f2937", fontFamily: "system-ui, sans-serif" },
    ariaLabel: title,
    x: { type: "log", label: of, tickFormat: (size: number) => size.toLocaleString("en"), ticks: points.map(({ size }) => size) },
    y: { label: `${title}, milliseconds (median)`, domain: [0, Math.max(...rows.map(({ ms }) => ms)) * 1.2], grid: true },
    color: { domain: Object.keys(COLOURS), range: Object.values(COLOURS) },
    marks: [
      line(rows, channels),
      dot(rows, { ...channels, fill: "what", r: 3 }),
      text(rows.slice(-2), { x: "size", y: "ms", text: "what", fill: "what", textAnchor: "start", dx: 8 }),
    ],
  });
  return `${drawn.outerHTML.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')}\n`;
}
