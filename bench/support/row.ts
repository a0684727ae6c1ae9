import type { Curve } from "./svg.js";

/** What a bench reports: figures, with what they were meant to be. */
export interface Row {
  /** What was measured, in words a reader of docs/figures.md understands. */
  name: string;
  value: number;
  /** Of `value` and of `target`: `s`, `ms`, `MB`, `KB`, `x`, `/s`. */
  unit: string;
  /** What the figure has to keep; absent where it is only told. */
  target?: { max?: number; min?: number };
  /** What stands behind the figure: the two sides of a ratio, runs, what could not be measured. */
  note?: string;
  /** The least that any way of doing it costs; absent from results of before it was told. */
  floor?: Floor;
  /** What the figure is one point of; drawn into `bench/curves/`, and not kept with the figures. */
  curves?: readonly Curve[];
}

/**
 * How far a figure is from the cheapest thing that must be done: it costs `times` as much as `of`, so 1 is as good as can
 * be and less is better than that way of doing it. `none` says why there is no such thing.
 */
export type Floor = { of: string; times: number } | { none: string };

/** What every `bench/<name>.ts` exports. */
export interface Bench {
  /** @param args what the command line has besides names, e.g. `--json` */
  run(args: readonly string[]): Promise<Row[]>;
}

/** `missed` says the figure breaks its target; without a target there is none. */
export function verdictOf({ value, target }: Row): "ok" | "missed" | undefined {
  if (target === undefined) return undefined;
  const kept = value <= (target.max ?? Infinity) && value >= (target.min ?? -Infinity);
  // NaN compares false with everything, so a figure that is none is missed.
  return kept ? "ok" : "missed";
}
