/** What the manifests of two releases say of tools, codes and specialisms; no payload shows it, so both tables are quoted. */
import type { CodeModel, Model, SpecialismModel, ToolModel } from "../model/model.js";
import type { Json } from "../model/shape.js";
import {
  type DiffFinding,
  type DiffVerdict,
  findingId,
  type Pairing,
  type ReadingWitness,
  type Stability,
} from "./finding.js";
import { fixOf, type RuleId } from "./rules.js";

/** A change of the tables, or of what is said in words. */
export interface ToldChange {
  readonly rule: RuleId;
  /** `tool/x`, `code/X`, `specialism/x`, or `release`. */
  readonly at: string;
  readonly tool?: string;
  /** The file that says it, where it is not the manifest. */
  readonly file?: string;
  readonly message: string;
  readonly from: Json;
  readonly to: Json;
  readonly breaks?: Pairing[];
  readonly undecided?: Pairing[];
  readonly reason?: string;
  readonly fix?: string;
}

const pointerOf = (at: string, value: Json): string => {
  if (value === null) return "";
  const [kind, name] = at.split("/");
  const table = { tool: "tools", code: "error_codes", specialism: "specialisms" }[kind!];
  return table === undefined ? "manifest.json" : `manifest.json#/${table}/${name}`;
};

/** @param stability of the newer release */
export function releaseFinding(told: ToldChange, stability: Stability): DiffFinding {
  const { rule, at, tool = null, message, from, to, breaks = [], undecided = [], reason } = told;
  const verdict: DiffVerdict = breaks.length > 0 ? "broken" : undecided.length > 0 ? "undecided" : "safe";
  // What is open for a person is quoted too.
  const quotedFor = breaks.length > 0 ? breaks : undecided.slice(0, 1);
  const witnesses = quotedFor.map((pairing): ReadingWitness => ({ kind: "reading", pairing, from, to }));
  return {
    id: findingId(rule, tool, "release", at),
    rule,
    tool,
    side: "release",
    at,
    pointerA: told.file ?? pointerOf(at, from),
    pointerB: told.file ?? pointerOf(at, to),
    message,
    breaks,
    undecided,
    verdict,
    stability,
    ...(witnesses.length > 0 && { witness: witnesses[0]!, witnesses }),
    ...(reason !== undefined && { reason }),
    fix: told.fix ?? fixOf(rule),
  };
}

const json = (value: unknown): Json => (value === undefined ? null : (value as Json));
const text = (value: unknown): string =>
  value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value);
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The old and the new entry of each name, code point order. */
export function* paired<T>(
  a: readonly T[],
  b: readonly T[],
  name: (one: T) => string,
): Generator<[string, T | undefined, T | undefined]> {
  const [before, now] = [a, b].map((list) => new Map(list.map((one) => [name(one), one])));
  for (const key of [...new Set([...before!.keys(), ...now!.keys()])].sort())
    yield [key, before!.get(key), now!.get(key)];
}

const REQUESTS: readonly Pairing[] = ["old-caller>new-seller", "new-caller>old-seller"];

function toolChanges(name: string, a: ToolModel, b: ToolModel): ToldChange[] {
  const about = { at: `tool/${name}`, tool: name };
  const found: ToldChange[] = [];
  const next = b.extensions.superseded_by;
  if ((a.deprecatedIn === undefined) !== (b.deprecatedIn === undefined))
    found.push({
      ...about,
      rule: "tool-deprecated",
      message: b.deprecatedIn === undefined ? "no longer deprecated" : `deprecated in ${b.deprecatedIn}`,
      from: json(a.deprecatedIn),
      to: json(b.deprecatedIn),
      reason: "a deprecated tool is still served; its messages are compared on their own",
      ...(next !== undefined && { fix: `move to ${text(next)}` }),
    });
  for (const [rule, field] of [
    ["tool-superseded", "superseded_by"],
    ["tool-fallback", "legacy_fallback"],
  ] as const) {
    const [from, to] = [a.extensions[field], b.extensions[field]];
    if (same(from, to)) continue;
    found.push({
      ...about,
      rule,
      message: `${text(from)} -> ${text(to)}`,
      from: json(from),
      to: json(to),
      reason: "it is advice: no message carries it",
    });
  }
  if (a.mutating !== b.mutating)
    found.push({
      ...about,
      rule: "tool-mutating",
      message: b.mutating ? "it writes now, and only read before" : "it only reads now, and wrote before",
      from: { mutating: a.mutating },
      to: { mutating: b.mutating },
      breaks: [...REQUESTS],
    });
  if (a.idempotency !== b.idempotency)
    found.push({
      ...about,
      rule: "tool-idempotency",
      message: `idempotency key ${a.idempotency} -> ${b.idempotency}`,
      from: { idempotency: a.idempotency },
      to: { idempotency: b.idempotency },
      breaks: [
        b.idempotency === "none" || b.idempotency === "exempt" ? "new-caller>old-seller" : "old-caller>new-seller",
      ],
    });
  if (a.protocol !== b.protocol)
    found.push({
      ...about,
      rule: "tool-protocol",
      message: `${a.protocol} -> ${b.protocol}`,
      from: a.protocol,
      to: b.protocol,
      breaks: [...REQUESTS],
    });
  return found;
}

function codeChanges(a: Model, b: Model): ToldChange[] {
  const found: ToldChange[] = [];
  for (const [code, before, now] of paired(a.codes, b.codes, (one: CodeModel) => one.code)) {
    const at = `code/${code}`;
    if (before === undefined || now === undefined) {
      const known = (before ?? now)!;
      const fallback = (before === undefined ? a : b).defaultUnknownRecovery;
      const pairing: Pairing = before === undefined ? "new-seller>old-caller" : "old-seller>new-caller";
      const agree = known.recovery === fallback;
      found.push({
        rule: before === undefined ? "code-added" : "code-removed",
        at,
        message: `${known.recovery}; who does not know it takes it for ${fallback}`,
        from: before === undefined ? { unknown: fallback } : { recovery: before.recovery },
        to: now === undefined ? { unknown: fallback } : { recovery: now.recovery },
        ...(agree ? { reason: "who does not know it recovers as its release says" } : { breaks: [pairing] }),
        ...(known.suggestion !== "" && { fix: known.suggestion }),
      });
    } else if (before.recovery !== now.recovery)
      found.push({
        rule: "code-recovery",
        at,
        message: `${before.recovery} -> ${now.recovery}`,
        from: { recovery: before.recovery },
        to: { recovery: now.recovery },
        breaks: ["old-seller>new-caller", "new-seller>old-caller"],
      });
  }
  if (a.defaultUnknownRecovery !== b.defaultUnknownRecovery)
    found.push({
      rule: "default-recovery",
      at: "release",
      message: `${a.defaultUnknownRecovery} -> ${b.defaultUnknownRecovery}`,
      from: a.defaultUnknownRecovery,
      to: b.defaultUnknownRecovery,
      breaks: ["old-seller>new-caller", "new-seller>old-caller"],
    });
  return found;
}

const without = (list: readonly string[], other: readonly string[]): string[] =>
  list.filter((one) => !other.includes(one));

function specialismChanges(a: Model, b: Model): ToldChange[] {
  const found: ToldChange[] = [];
  for (const [id, before, now] of paired(a.specialisms, b.specialisms, (one: SpecialismModel) => one.id)) {
    const at = `specialism/${id}`;
    if (before === undefined || now === undefined) {
      const tools = (before ?? now)!.exercised;
      found.push({
        rule: before === undefined ? "specialism-added" : "specialism-removed",
        at,
        message: tools.length === 0 ? "it exercises no tool" : `it exercises ${tools.join(", ")}`,
        from: before === undefined ? null : { tools },
        to: now === undefined ? null : { tools },
        ...(before === undefined
          ? { reason: "who does not know it does not ask for it" }
          : { breaks: ["old-caller>new-seller"] as Pairing[] }),
      });
      continue;
    }
    if (before.protocol !== now.protocol)
      found.push({
        rule: "specialism-protocol",
        at,
        message: `${before.protocol} -> ${now.protocol}`,
        from: before.protocol,
        to: now.protocol,
        breaks: ["old-caller>new-seller"],
      });
    const [more, less] = [without(now.exercised, before.exercised), without(before.exercised, now.exercised)];
    if (more.length + less.length === 0 && same(before.entryPoints, now.entryPoints)) continue;
    const said = [
      ...(more.length > 0 ? [`it demands ${more.join(", ")} now`] : []),
      ...(less.length > 0 ? [`it demands ${less.join(", ")} no more`] : []),
    ];
    found.push({
      rule: "specialism-tools",
      at,
      message:
        said.join("; ") ||
        `entry points ${before.entryPoints.join(", ") || "none"} -> ${now.entryPoints.join(", ") || "none"}`,
      from: { entryPoints: before.entryPoints, tools: before.exercised },
      to: { entryPoints: now.entryPoints, tools: now.exercised },
      ...(more.length + less.length === 0 && { reason: "the same tools are exercised" }),
      breaks: [
        ...(less.length > 0 ? (["old-caller>new-seller"] as const) : []),
        ...(more.length > 0 ? (["new-caller>old-seller"] as const) : []),
      ],
    });
  }
  return found;
}

/** Findings of the tables of two releases; tools that only one of them has aside, for which there is a payload. */
export function compareTables(a: Model, b: Model, stability: Stability): DiffFinding[] {
  const tools = [...paired(a.tools, b.tools, (one: ToolModel) => one.name)].flatMap(([name, before, now]) =>
    before === undefined || now === undefined ? [] : toolChanges(name, before, now),
  );
  return [...tools, ...codeChanges(a, b), ...specialismChanges(a, b)].map((told) => releaseFinding(told, stability));
}

/** The numbers of a version, and whether it is of a series still in the making. */
const partsOf = (version: string): { major: string; minor: string; preview: boolean } => {
  const [major = "", minor = ""] = version.split(/[.-]/);
  return { major, minor, preview: version.includes("-") };
};

export const stabilityOf = (version: string): Stability => (partsOf(version).preview ? "preview" : "stable");

/** What the releases say of themselves by their versions, held against what was found. */
export function comparePromises(a: Model, b: Model, found: readonly DiffFinding[]): DiffFinding[] {
  const told: ToldChange[] = [];
  const [one, two] = [partsOf(a.version), partsOf(b.version)];
  if (a.version === b.version && a.digest !== b.digest && found.length > 0)
    told.push({
      rule: "release-republished",
      at: "release",
      message: `${a.version} was published twice: ${a.digest.slice(0, 12)} and ${b.digest.slice(0, 12)}`,
      from: a.digest,
      to: b.digest,
      reason: "what differs is in the other findings",
      undecided: [],
    });
  const promised = !one.preview && !two.preview && one.major === two.major && a.version !== b.version;
  const broken = found.filter(({ verdict, side }) => verdict === "broken" && side !== "release");
  if (promised && one.minor === two.minor && broken.length > 0)
    told.push(promise("policy-patch", broken, [a.version, b.version]));
  const takes = found.filter(
    ({ breaks }) => breaks.includes("old-caller>new-seller") || breaks.includes("new-seller>old-caller"),
  );
  const gone = takes.filter(
    ({ rule, stability }) => stability === "stable" && /removed|narrowed|required-property-added/.test(rule),
  );
  if (promised && one.minor !== two.minor && gone.length > 0)
    told.push(promise("policy-minor", gone, [a.version, b.version]));
  return told.map((each) => releaseFinding(each, stabilityOf(b.version)));
}

const promise = (rule: RuleId, by: readonly DiffFinding[], [from, to]: [string, string]): ToldChange => ({
  rule,
  at: "release",
  message: `${by.length} findings, the first ${by[0]!.id} (${by[0]!.tool ?? by[0]!.at}: ${by[0]!.message})`,
  from,
  to,
  breaks: [...new Set(by.flatMap(({ breaks }) => breaks))].sort(),
});
