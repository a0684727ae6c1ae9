/** A change of a message -> a finding, with the proof of what it breaks. */
import { type ChangeClaim, placeText, type ShapeChange } from "./change.js";
import {
  type DiffFinding,
  type DiffVerdict,
  findingId,
  type Pairing,
  type PayloadWitness,
  pairingOf,
  type Side,
  type Stability,
} from "./finding.js";
import type { Forms } from "./form.js";
import type { Sided } from "./mend.js";
import type { ShapePart } from "./part.js";
import { stabilityOf } from "./release-side.js";
import { fixOf, type RuleId } from "./rules.js";
import type { DiffSide } from "./side.js";
import { type Prover, smallest } from "./witness.js";

export interface Work {
  readonly a: DiffSide;
  readonly b: DiffSide;
  readonly forms: Forms;
  readonly prover: Prover;
}

/** What messages of one sort are held to. */
export interface Message {
  readonly tool: string | null;
  /** The kind of event, or the code whose details they are. */
  readonly about?: string;
  readonly side: Side;
  readonly a: string;
  readonly b: string;
}

export const sided = ({ model, judge }: DiffSide, ref: string): Sided => ({
  ref,
  judge,
  part: { shape: model.resolve(ref)!, of: model.resolve } satisfies ShapePart,
});

interface Direction {
  readonly state: DiffVerdict;
  readonly witness?: PayloadWitness;
  readonly undeclared: boolean;
}

/** Proof of one direction of a change, or the lack of one. */
function decide(work: Work, message: Message, change: ShapeChange, forward: boolean): Direction {
  const claim: ChangeClaim = forward ? change.forward : change.backward;
  if ("contained" in claim) {
    // Among alternatives of which exactly one may hold, more here may be less there; the same is the same.
    const same = "contained" in change.forward && "contained" in change.backward;
    return { state: change.place.exclusive && !same ? "undecided" : "safe", undeclared: false };
  }
  const [from, to] = forward ? [work.a, work.b] : [work.b, work.a];
  const [ref, other] = forward ? [message.a, message.b] : [message.b, message.a];
  const undeclared = claim.undeclared === true;
  const sought = { source: sided(from, ref), target: sided(to, other), place: change.place };
  const key = [change.rule, change.pointerA, change.pointerB, change.message, forward].join("\n");
  const proof = work.prover.find(sought, key, claim.tries);
  if (proof === undefined) return { state: "undecided", undeclared };
  const witness: PayloadWitness = {
    kind: "payload",
    pairing: pairingOf(message.side, forward),
    accepts: from.model.version,
    refuses: to.model.version,
    schemas: { accepting: ref, refusing: other },
    ...proof,
  };
  return { state: "broken", witness, undeclared };
}

const EXPERIMENTAL = "x-status";

function stabilityAt(change: ShapeChange, version: string): Stability {
  const marked = [...change.place.a, ...change.place.b].some(
    ({ shape }) => shape.extensions?.[EXPERIMENTAL] === "experimental",
  );
  return marked ? "experimental" : stabilityOf(version);
}

const reasons: Readonly<Record<"exclusive" | "unproven" | "safe", string>> = {
  exclusive: "it stands among alternatives of which exactly one may hold, and no value was found that is now of two",
  unproven: "no payload was found that shows it, and nothing proves that there is none",
  safe: "every value that one release allows here the other allows too",
};

export function findingOf(work: Work, message: Message, change: ShapeChange): DiffFinding {
  const { rule, place, pointerA, pointerB } = change;
  const [forward, backward] = [decide(work, message, change, true), decide(work, message, change, false)];
  const each = [
    [forward, pairingOf(message.side, true)],
    [backward, pairingOf(message.side, false)],
  ] as const;
  const of = (state: DiffVerdict): Pairing[] =>
    each.filter(([one]) => one.state === state).map(([, pairing]) => pairing);
  const breaks = of("broken");
  // Below exclusive alternatives what takes nothing away here is unproven: told only where nothing else is.
  const undecided = of("undecided");
  const verdict: DiffVerdict = breaks.length > 0 ? "broken" : undecided.length > 0 ? "undecided" : "safe";
  const witnesses = each.flatMap(([{ witness }]) => witness ?? []);
  const at = placeText(place.at);
  const onlyUndeclared = breaks.length > 0 && each.every(([one]) => one.state !== "broken" || one.undeclared);
  const tried = "tries" in change.forward || "tries" in change.backward;
  const reason = verdict === "safe" ? reasons.safe : !tried ? reasons.exclusive : reasons.unproven;
  return {
    id: findingId(`${rule} ${change.message}`, message.tool, message.side, (message.about ?? "") + at),
    rule,
    tool: message.tool,
    side: message.side,
    ...(message.about !== undefined && { about: message.about }),
    at,
    pointerA,
    pointerB,
    message: change.message,
    breaks,
    undecided,
    verdict,
    stability: stabilityAt(change, work.a.model.version),
    ...(onlyUndeclared && { undeclaredOnly: true }),
    ...(witnesses.length > 0 && { witness: witnesses[0]!, witnesses }),
    ...(verdict !== "broken" && { reason }),
    fix: fixOf(rule),
  };
}

/** What only one of the releases has: the smallest message of it, which the other has no schema for. */
export interface OneSided {
  readonly rule: RuleId;
  readonly tool: string | null;
  readonly about?: string;
  readonly side: Side;
  readonly at: string;
  readonly has: DiffSide;
  readonly lacks: DiffSide;
  readonly ref: string;
  /** The newer release has it. */
  readonly added: boolean;
  readonly message: string;
  readonly fix?: string;
}

export function oneSided(one: OneSided): DiffFinding {
  const { rule, tool, about, side, at, has, lacks, ref, added, message, fix } = one;
  const sent: Side = side === "release" ? "request" : side;
  const pairing = pairingOf(sent, !added);
  const payload = smallest(sided(has, ref));
  const witness: PayloadWitness | undefined =
    payload === undefined
      ? undefined
      : {
          kind: "payload",
          pairing,
          accepts: has.model.version,
          refuses: lacks.model.version,
          schemas: { accepting: ref, refusing: undefined },
          payload,
          because: "the release has no schema for it",
        };
  return {
    id: findingId(rule, tool, side, (about ?? "") + at),
    rule,
    tool,
    side,
    ...(about !== undefined && { about }),
    at,
    pointerA: added ? "" : ref,
    pointerB: added ? ref : "",
    message,
    breaks: witness === undefined ? [] : [pairing],
    undecided: witness === undefined ? [pairing] : [],
    verdict: witness === undefined ? "undecided" : "broken",
    stability: stabilityOf(has.model.version),
    ...(witness === undefined ? { reason: "no payload could be made of it" } : { witness, witnesses: [witness] }),
    fix: fix ?? fixOf(rule),
  };
}
