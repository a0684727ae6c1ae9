/** A comparison held against more than it was made with: a second validator, payloads of the releases, generated ones. */
import type { DiffFinding, DiffReport, PayloadWitness, Side } from "../../generator/diff/finding.js";
import { pairingOf } from "../../generator/diff/finding.js";
import type { Sided } from "../../generator/diff/mend.js";
import { sided } from "../../generator/diff/prove.js";
import type { DiffSide } from "../../generator/diff/side.js";
import { generated, survive } from "../../generator/diff/survive.js";
import type { Json } from "../../generator/model/shape.js";
import { type SecondJudge, secondJudgeOf } from "./second-judge.js";
import { messageSchema } from "./traffic.js";

export interface VerifiedDiff {
  readonly findings: DiffFinding[];
  /** Witnesses that the second validator was asked of, and the findings of those that it does not believe. */
  readonly witnesses: number;
  readonly disputed: readonly string[];
  /** Payloads shown to the other release, and the findings that were not safe after all. */
  readonly payloads: number;
  readonly withdrawn: readonly string[];
  /** Payloads that are refused without a finding, as `tool side`. */
  readonly unsaid: readonly string[];
}

/** A payload of a message, as a corpus has it. */
export interface CorpusPayload {
  readonly tool: string;
  readonly side: Side;
  readonly payload: Json;
}

const believed = (witness: PayloadWitness, judges: ReadonlyMap<string, SecondJudge>): boolean => {
  const { accepts, refuses, schemas, payload } = witness;
  if (!judges.get(accepts)!(schemas.accepting, payload)) return false;
  return schemas.refusing === undefined || !judges.get(refuses)!(schemas.refusing, payload);
};

/** A finding without the witnesses that the second validator does not believe. */
function doubted(one: DiffFinding, judges: ReadonlyMap<string, SecondJudge>): DiffFinding {
  const { witness: _, witnesses = [], ...bare } = one;
  const held = witnesses.filter((each) => each.kind === "reading" || believed(each, judges));
  if (held.length === witnesses.length) return one;
  const breaks = one.breaks.filter((pairing) => held.some((each) => each.pairing === pairing));
  const undecided = [...one.undecided, ...one.breaks.filter((pairing) => !breaks.includes(pairing))];
  return {
    ...bare,
    breaks,
    undecided,
    verdict: breaks.length > 0 ? "broken" : "undecided",
    ...(held.length > 0 && { witness: held[0]!, witnesses: held }),
    reason: "two validators disagree on the payload that was to show it",
  };
}

const notSafe = (one: DiffFinding): DiffFinding => ({
  ...one,
  verdict: "undecided",
  undecided: [pairingOf(one.side, true), pairingOf(one.side, false)],
  reason: "it takes nothing away by what the schemas say, and a payload is refused there even so",
});

/** Examples that the releases give of whole messages are payloads too. */
const examplesOf = ({ part }: Sided): Json[] => part.shape.examples ?? [];

interface Shown {
  /** Payloads of either release, beside those that are generated. */
  readonly corpus?: readonly CorpusPayload[];
  /** How many are generated of each message; 200 by default. */
  readonly generate?: number;
}

function survival(report: DiffReport, [a, b]: readonly [DiffSide, DiffSide], { corpus = [], generate }: Shown) {
  const messages = Map.groupBy(
    report.findings.filter(({ tool, side }) => tool !== null && side !== "release"),
    ({ tool, side }) => `${tool} ${side}`,
  );
  const withdrawn = new Set<string>();
  const unsaid: string[] = [];
  let payloads = 0;
  for (const [name, findings] of messages) {
    const [{ tool, side }] = findings as [DiffFinding];
    const [old, now] = [messageSchema(a, tool!, side), messageSchema(b, tool!, side)];
    if (old === undefined || now === undefined) continue;
    const sides = [sided(a, old), sided(b, now)] as const;
    const given = corpus.filter((one) => one.tool === tool && one.side === side).map(({ payload }) => payload);
    for (const forward of [true, false]) {
      const [source, target] = forward ? sides : [sides[1], sides[0]];
      const shown = [...generated(source, generate), ...examplesOf(source), ...given];
      const found = survive(shown, [source, target], findings, pairingOf(side, forward));
      payloads += found.payloads;
      for (const id of found.withdrawn) withdrawn.add(id);
      if (found.unsaid.length > 0) unsaid.push(`${name}: ${JSON.stringify(found.unsaid[0]).slice(0, 200)}`);
    }
  }
  return { withdrawn, unsaid, payloads };
}

export function verify(report: DiffReport, sides: readonly [DiffSide, DiffSide], shown: Shown = {}): VerifiedDiff {
  const [a, b] = sides;
  // Two releases of one version have one name: the newer's judge cannot speak for the older then.
  const judges = new Map([
    [a.model.version, secondJudgeOf(a)],
    [b.model.version, secondJudgeOf(b)],
  ]);
  const { withdrawn, unsaid, payloads } = survival(report, sides, shown);
  const asked = a.model.version === b.model.version ? new Map<string, SecondJudge>() : judges;
  const findings = report.findings.map((one) => {
    const kept = asked.size === 0 ? one : doubted(one, asked);
    return kept.verdict === "safe" && withdrawn.has(kept.id) ? notSafe(kept) : kept;
  });
  const witnesses = report.findings.flatMap((one) => one.witnesses ?? []).filter(({ kind }) => kind === "payload");
  const disputed = findings.filter((one, index) => one.witnesses?.length !== report.findings[index]!.witnesses?.length);
  return {
    findings,
    witnesses: asked.size === 0 ? 0 : witnesses.length,
    disputed: disputed.map(({ id }) => id),
    payloads,
    withdrawn: [...withdrawn],
    unsaid,
  };
}
