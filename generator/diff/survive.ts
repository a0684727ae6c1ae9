/** Payloads of a release that must pass where a comparison says that it is safe; one that does not takes the word back. */
import type { Json } from "../model/shape.js";
import type { DiffFinding, Pairing } from "./finding.js";
import { always, insideAlternative, mended, type SchemaRefusal, type Sided } from "./mend.js";
import { sample } from "./sample.js";

/** Payloads that are made of each message. */
const GENERATED = 200;

/** Levels of optional properties that are made. */
const FULL = [0, 1, 2, 3] as const;

/** Payloads that a release accepts, each once. @param most as many at most; a small schema gives fewer */
export function generated(side: Sided, most = GENERATED): Json[] {
  const found = new Map<string, Json>();
  for (let turn = 0; turn * FULL.length < most; turn++)
    for (const full of FULL) {
      const value = sample([side.part], { turn, full });
      if (mended(value, [side], always)) found.set(JSON.stringify(value), value);
    }
  return [...found.values()];
}

interface RefusedPlace {
  readonly steps: readonly string[];
  /** Something below it may be why: no alternative fitted, or a condition does not hold. */
  readonly deep: boolean;
}

const stepsOf = (place: string): string[] => place.split("/").slice(1);

/** The place that is refused; where a name is missing or one too many, the name's own. */
function placesOf(refusal: SchemaRefusal): RefusedPlace[] {
  const steps = stepsOf(refusal.instancePath.replace(/\/\d+(?=\/|$)/g, "/-"));
  const name = refusal.params.missingProperty ?? refusal.params.additionalProperty;
  const own: RefusedPlace = { steps, deep: insideAlternative(refusal) };
  return name === undefined ? [own] : [own, { ...own, steps: [...steps, String(name)] }];
}

/** `*` stands for any name. */
const leads = (above: readonly string[], below: readonly string[]): boolean =>
  above.length <= below.length && above.every((step, index) => step === "*" || step === below[index]);

const related = (at: string, { steps, deep }: RefusedPlace): boolean => {
  const own = stepsOf(at);
  return leads(own, steps) || (deep && leads(steps, own));
};

export interface Survival {
  /** Payloads that the sender's release accepts. */
  readonly payloads: number;
  /** Findings that said safe where a payload was refused. */
  readonly withdrawn: ReadonlySet<string>;
  /** Payloads that are refused, and no finding says so. */
  readonly unsaid: readonly Json[];
}

/**
 * Shows payloads of one side to the other.
 * @param findings those of the message
 * @param pairing who sends and who reads
 */
export function survive(
  payloads: readonly Json[],
  [source, target]: readonly [Sided, Sided],
  findings: readonly DiffFinding[],
  pairing: Pairing,
): Survival {
  const accepted = payloads.filter((value) => source.judge(source.ref, value).length === 0);
  const open = findings.filter(({ breaks, undecided }) => breaks.includes(pairing) || undecided.includes(pairing));
  const safe = findings.filter((one) => !open.includes(one));
  const withdrawn = new Set<string>();
  const unsaid: Json[] = [];
  for (const value of accepted) {
    const places = target.judge(target.ref, value).flatMap(placesOf);
    if (places.length === 0 || open.some(({ at }) => places.some((place) => related(at, place)))) continue;
    const liars = safe.filter(({ at }) => places.some((place) => related(at, place)));
    for (const { id } of liars) withdrawn.add(id);
    if (liars.length === 0) unsaid.push(value);
  }
  return { payloads: accepted.length, withdrawn, unsaid };
}
