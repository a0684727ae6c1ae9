/** Findings that many tools share, said once: a change of one schema is one thing to read. */
import type { DiffFinding } from "../../generator/diff/finding.js";

export interface Folded {
  readonly first: DiffFinding;
  readonly all: readonly DiffFinding[];
  /** `tool side place` of each, a few. */
  readonly where: string;
}

const SHOWN = 3;

/** Kinds of event that share a schema are many; the first stands for them. */
const aboutText = (about: string | undefined): string => {
  const [first = "", ...others] = (about ?? "").split(", ");
  return others.length === 0 ? first : `${first} and ${others.length} more`;
};

export const placeOf = ({ tool, side, about, at }: DiffFinding): string =>
  side === "release" ? at : [tool, side, aboutText(about), at].filter((one) => one !== null && one !== "").join(" ");

const keyOf = (one: DiffFinding): string =>
  one.side === "release"
    ? one.id
    : [one.rule, one.pointerA, one.pointerB, one.message, one.verdict, one.undeclaredOnly === true].join("\n");

const weight = { broken: 0, undecided: 1, safe: 2 } as const;

/** Broken first, what only undeclared names show after it; then what reaches most tools. */
export function fold(findings: readonly DiffFinding[]): Folded[] {
  const groups = [...Map.groupBy(findings, keyOf).values()];
  const rank = ({ verdict, undeclaredOnly }: DiffFinding): number => weight[verdict] * 2 + (undeclaredOnly ? 1 : 0);
  return groups
    .sort((a, b) => rank(a[0]!) - rank(b[0]!) || b.length - a.length)
    .map((all) => {
      const shown = all.slice(0, SHOWN).map(placeOf).join(", ");
      return { first: all[0]!, all, where: shown + (all.length > SHOWN ? ` and ${all.length - SHOWN} more` : "") };
    });
}

/** Pairings that any of them breaks, or leaves undecided where none does. */
export const pairingsOf = ({ all }: Folded): string => {
  const broken = [...new Set(all.flatMap(({ breaks }) => breaks))];
  const open = [...new Set(all.flatMap(({ undecided }) => undecided))];
  return (broken.length > 0 ? broken : open).join(", ");
};

export const foldedPlace = (folded: Folded): string => {
  const { pointerA, pointerB } = folded.first;
  return pointerA === pointerB || pointerB === "" ? pointerA : pointerA === "" ? pointerB : pointerB;
};
