/** Two releases -> what changed between them, each change with a verdict that was earned. */
import type { Model, ToolModel } from "../model/model.js";
import type { Json } from "../model/shape.js";
import type { ShapeChange } from "./change.js";
import { compare } from "./compare.js";
import { type DiffFinding, type DiffReport, type DiffVerdict, type Pairing, pairings, type Side } from "./finding.js";
import { Forms } from "./form.js";
import { withOpenFolded } from "./open.js";
import { findingOf, type Message, oneSided, sided, type Work } from "./prove.js";
import { comparePromises, compareTables, paired, stabilityOf } from "./release-side.js";
import { compareSuites, compareWords } from "./release-words.js";
import { type DiffSide, TASK_ENVELOPE } from "./side.js";
import { Prover } from "./witness.js";

/** Schemas of a tool's messages, by side. An arm that stands inside the answer is compared with the answer. */
export function messagesOf(tool: ToolModel): Map<Side, string> {
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

function compareTool(work: Work, name: string, before: ToolModel, now: ToolModel): DiffFinding[] {
  const [old, fresh] = [messagesOf(before), messagesOf(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((side): DiffFinding[] => {
    const [a, b] = [old.get(side), fresh.get(side)];
    if (a !== undefined && b !== undefined) {
      const inside = a.startsWith(`${before.response}#`) && b.startsWith(`${now.response}#`);
      if (inside) return [];
      return compareMessage(work, { tool: name, side, a, b });
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

/** Kinds that share a schema in both releases are compared once. */
function compareEvents(work: Work): DiffFinding[] {
  const { a, b } = work;
  const kinds = [...new Set([...a.events.keys(), ...b.events.keys()])].sort();
  const both = kinds.filter((kind) => a.events.has(kind) && b.events.has(kind));
  const groups = Map.groupBy(both, (kind) => `${a.events.get(kind)} ${b.events.get(kind)}`);
  const compared = [...groups.values()].flatMap((group) => {
    const [kind] = group as [string];
    const refs = { a: a.events.get(kind)!, b: b.events.get(kind)! };
    return compareMessage(work, { tool: null, side: "webhook", about: group.join(", "), ...refs });
  });
  const single = kinds.filter((kind) => !both.includes(kind));
  return [
    ...compared,
    ...single.map((kind) => {
      const added = b.events.has(kind);
      const [has, lacks] = added ? [b, a] : [a, b];
      const message = `${kind} is ${added ? "told now" : "not told any more"}`;
      const ref = has.events.get(kind)!;
      const rule = added ? "webhook-added" : "webhook-removed";
      return oneSided({ rule, tool: null, about: kind, side: "webhook", at: "", has, lacks, added, ref, message });
    }),
  ];
}

/** The error that every answer may carry, and the details that codes bring. */
function compareErrors(work: Work): DiffFinding[] {
  const { a, b } = work;
  return [...a.errors].flatMap(([code, ref]) => {
    const now = b.errors.get(code);
    if (now === undefined) return [];
    return compareMessage(work, { tool: null, side: "error", ...(code !== "" && { about: code }), a: ref, b: now });
  });
}

/** What a task's webhook brings is the tool's answer, and compared with it. */
const isOfEnvelope = ({ place }: ShapeChange): boolean => {
  const [first] = place.at;
  return !(first !== undefined && "name" in first && first.name === "result");
};

/** A property of the capabilities is not there for its own sake: it is what an agent must say of itself. */
const asDemand = (change: ShapeChange): ShapeChange =>
  change.rule === "required-property-added" || change.rule === "property-required"
    ? { ...change, rule: "capability-demanded", message: `it must be told: ${change.message}` }
    : change;

function compareMessage(work: Work, message: Message): DiffFinding[] {
  const { a, b } = message;
  const changes = compare(sided(work.a, a).part, sided(work.b, b).part, work.forms);
  const capabilities = message.side === "answer" && message.tool === work.b.model.facts.tools.capabilities?.value;
  const told = message.about?.split(", ").includes(TASK_ENVELOPE) ? changes.filter(isOfEnvelope) : changes;
  const rows = told.map((change) => ({
    within: change.place.within,
    finding: findingOf(work, message, capabilities ? asDemand(change) : change),
  }));
  return withOpenFolded(message, rows);
}

const byPlace = (one: DiffFinding, two: DiffFinding): number => {
  const key = ({ tool, side, about, at, rule, id }: DiffFinding): Json[] => [
    tool ?? "",
    side,
    about ?? "",
    at,
    rule,
    id,
  ];
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
  const stability = stabilityOf(b.model.version);
  const found = [
    ...compareTools(work),
    ...compareEvents(work),
    ...compareErrors(work),
    ...compareTables(a.model, b.model, stability),
    ...compareWords(a, b, stability),
    ...(a.suite !== undefined && b.suite !== undefined ? compareSuites(a.suite, b.suite, stability) : []),
  ];
  const unique = [...new Map(found.map((one) => [one.id, one])).values()];
  const findings = [...unique, ...comparePromises(a.model, b.model, unique)].sort(byPlace);
  return reportOf(a.model, b.model, findings);
}
