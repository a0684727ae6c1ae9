/** A curve as an SVG that any browser shows: lines, two axes, and the figures themselves as text. */
export interface Curve {
  /** What is drawn, in words a file's name may have: `memory`, `import-rate`. */
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

export interface Axis {
  /** With its unit: `claim, microseconds`. */
  readonly label: string;
  /** Logarithmic; its values are then positive. Default false, and the axis begins at 0. */
  readonly log?: boolean;
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 80;
const RIGHT = 150;
const TOP = 50;
const BOTTOM = 60;
const LABEL_HEIGHT = 15;
/** Told apart by people who mix up red and green too (Okabe and Ito). */
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

const xmlText = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** Short and exact enough to read off: 1200000 is 1.2M. */
const short = (value: number): string =>
  value >= 1e6
    ? `${Number((value / 1e6).toPrecision(3))}M`
    : value >= 1e3
      ? `${Number((value / 1e3).toPrecision(3))}k`
      : String(Number(value.toPrecision(3)));

interface Scale {
  readonly ticks: readonly number[];
  /** Place along the axis, 0 to 1. */
  at(value: number): number;
}

function scaleOf(values: readonly number[], log: boolean): Scale {
  if (log) {
    const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
    const span = Math.max(1, high - low);
    return {
      ticks: Array.from({ length: span + 1 }, (_, index) => 10 ** (low + index)),
      at: (value) => (Math.log10(value) - low) / span,
    };
  }
  const top = Math.max(...values, Number.MIN_VALUE);
  const rough = top / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => power * factor >= rough)!;
  const count = Math.ceil(top / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    at: (value) => value / (count * step),
  };
}

/** Places of labels that begin at these heights, each a line of text from the next at least; order is kept. */
function apart(heights: readonly number[]): number[] {
  const places = [...heights];
  let free = Number.NEGATIVE_INFINITY;
  for (const index of [...heights.keys()].sort((a, b) => heights[a]! - heights[b]!)) {
    places[index] = Math.max(heights[index]!, free);
    free = places[index]! + LABEL_HEIGHT;
  }
  return places;
}

/**
 * Draws a curve.
 * @throws Error for a curve without points
 */
export function drawCurve({ title, x, y, lines }: Curve): string {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) throw new Error(`the curve "${title}" has no points`);
  const [across, up] = [
    scaleOf(
      points.map(([value]) => value),
      x.log === true,
    ),
    scaleOf(
      points.map(([, value]) => value),
      y.log === true,
    ),
  ];
  const px = (value: number): string => (LEFT + across.at(value) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const py = (value: number): string => (HEIGHT - BOTTOM - up.at(value) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const end = HEIGHT - BOTTOM;
  const text = (at: string, anchor: string, words: string): string =>
    `<text ${at} text-anchor="${anchor}">${xmlText(words)}</text>`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${xmlText(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(`x="${LEFT}" y="24" font-size="15"`, "start", title),
    ...across.ticks.map((tick) => text(`x="${px(tick)}" y="${end + 18}"`, "middle", short(tick))),
    ...up.ticks.map(
      (tick) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${py(tick)}" y2="${py(tick)}" stroke="#ddd"/>` +
        text(`x="${LEFT - 8}" y="${Number(py(tick)) + 4}"`, "end", short(tick)),
    ),
    text(`x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 16}"`, "middle", x.label),
    text(`transform="translate(18 ${(TOP + end) / 2}) rotate(-90)"`, "middle", y.label),
  ];
  const heights = apart(lines.map((line) => Number(py(line.points.at(-1)?.[1] ?? 0)) + 4));
  for (const [index, line] of lines.entries()) {
    const colour = colours[index % colours.length]!;
    const path = line.points.map(([a, b]) => `${px(a)},${py(b)}`).join(" ");
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    // Dots where there are few: of hundreds of samples the line is enough.
    if (line.points.length <= 20)
      parts.push(...line.points.map(([a, b]) => `<circle cx="${px(a)}" cy="${py(b)}" r="3" fill="${colour}"/>`));
    const last = line.points.at(-1);
    if (last !== undefined)
      parts.push(
        `<g fill="${colour}">${text(`x="${Number(px(last[0])) + 8}" y="${heights[index]!.toFixed(1)}"`, "start", line.name)}</g>`,
      );
  }
  return `${[...parts, "</svg>"].join("\n")}\n`;
}
