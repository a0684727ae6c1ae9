/** Two releases -> what changed between them, each change with a verdict that was earned. */
import type { Model, ToolModel } from "../model/model.js";
import type { Json } from "../model/shape.js";
import { type ChangeClaim, placeText, type ShapeChange } from "./change.js";
import { compare } from "./compare.js";
import {
  type DiffFinding,
  type DiffReport,
  type DiffVerdict,
  findingId,
  type Pairing,
  type PayloadWitness,
  pairingOf,
  pairings,
  type Side,
  type Stability,
} from "./finding.js";
import { Forms } from "./form.js";
import type { DiffJudge, Sided } from "./mend.js";
import type { ShapePart } from "./part.js";
import { comparePromises, compareTables, paired, stabilityOf } from "./release-side.js";
import { fixOf, type RuleId } from "./rules.js";
import { Prover, smallest } from "./witness.js";

/** A release, and its schemas as validators. */
export interface DiffSide {
  readonly model: Model;
  readonly judge: DiffJudge;
}

interface Work {
  readonly a: DiffSide;
  readonly b: DiffSide;
  readonly forms: Forms;
  readonly prover: Prover;
}

/** What messages of one sort are held to. */
interface Message {
  readonly tool: string;
  readonly side: Side;
  readonly a: string;
  readonly b: string;
}

/** Schemas of a tool's messages, by side. An arm that stands inside the answer is compared with the answer. */
function messagesOf(tool: ToolModel): Map<Side, string> {
  const found = new Map<Side, string>([
    ["request", tool.request],
    ["answer", tool.response],
  ]);
  for (const { status, schema } of tool.arms) {
    if (status === "completed" || schema === undefined) continue;
    found.set(`async:${status}`, schema);
  }
  return found;
}

const sided = ({ model, judge }: DiffSide, ref: string): Sided => ({
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

function findingOf(work: Work, message: Message, change: ShapeChange): DiffFinding {
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
    id: findingId(`${rule} ${change.message}`, message.tool, message.side, at),
    rule,
    tool: message.tool,
    side: message.side,
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
interface OneSided {
  readonly rule: RuleId;
  readonly tool: string;
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

function oneSided({ rule, tool, side, at, has, lacks, ref, added, message, fix }: OneSided): DiffFinding {
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
    id: findingId(rule, tool, side, at),
    rule,
    tool,
    side,
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

function compareTool(work: Work, name: string, before: ToolModel, now: ToolModel): DiffFinding[] {
  const [old, fresh] = [messagesOf(before), messagesOf(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((side): DiffFinding[] => {
    const [a, b] = [old.get(side), fresh.get(side)];
    if (a !== undefined && b !== undefined) {
      const inside = a.startsWith(`${before.response}#`) && b.startsWith(`${now.response}#`);
      if (inside) return [];
      const changes = compare(sided(work.a, a).part, sided(work.b, b).part, work.forms);
      return changes.map((change) => findingOf(work, { tool: name, side, a, b }, change));
    }
    const added = a === undefined;
    const [has, lacks] = added ? [work.b, work.a] : [work.a, work.b];
    const status = side.slice("async:".length);
    return [
      oneSided({
        rule: added ? "arm-added" : "arm-removed",
        tool: name,
        side,
        at: "",
        has,
        lacks,
        added,
        ref: (a ?? b)!,
        message: `it ${added ? "may answer" : "does not answer"} ${status} ${added ? "now" : "any more"}`,
      }),
    ];
  });
}

function compareTools(work: Work): DiffFinding[] {
  const { a, b } = work;
  return [...paired(a.model.tools, b.model.tools, (one: ToolModel) => one.name)].flatMap(([name, before, now]) => {
    if (before !== undefined && now !== undefined) return compareTool(work, name, before, now);
    const tool = (before ?? now)!;
    const added = before === undefined;
    return [
      oneSided({
        rule: added ? "tool-added" : "tool-removed",
        tool: name,
        side: "release",
        at: `tool/${name}`,
        has: added ? b : a,
        lacks: added ? a : b,
        added,
        ref: tool.request,
        message: tool.summary,
      }),
    ];
  });
}

const byPlace = (one: DiffFinding, two: DiffFinding): number => {
  const key = ({ tool, side, at, rule, id }: DiffFinding): Json[] => [tool ?? "", side, at, rule, id];
  const [a, b] = [JSON.stringify(key(one)), JSON.stringify(key(two))];
  return a < b ? -1 : a > b ? 1 : 0;
};

export function reportOf(a: Model, b: Model, findings: readonly DiffFinding[], accepted = 0): DiffReport {
  const count = (verdict: DiffVerdict): number => findings.filter((one) => one.verdict === verdict).length;
  const named = ({ word, version, digest }: Model) => ({ word, version, digest });
  const broken = pairings.map((pairing) => [pairing, findings.filter(({ breaks }) => breaks.includes(pairing)).length]);
  return {
    from: named(a),
    to: named(b),
    summary: {
      findings: findings.length,
      broken: count("broken"),
      undecided: count("undecided"),
      safe: count("safe"),
      accepted,
      pairings: Object.fromEntries(broken) as Record<Pairing, number>,
    },
    findings,
  };
}

/**
 * Compares two releases.
 * @param a the older
 * @param b the newer
 */
export function diffReleases(a: DiffSide, b: DiffSide): DiffReport {
  const work: Work = { a, b, forms: new Forms(), prover: new Prover() };
  const found = [...compareTools(work), ...compareTables(a.model, b.model, stabilityOf(b.model.version))];
  const unique = [...new Map(found.map((one) => [one.id, one])).values()];
  const findings = [...unique, ...comparePromises(a.model, b.model, unique)].sort(byPlace);
  return reportOf(a.model, b.model, findings);
}
