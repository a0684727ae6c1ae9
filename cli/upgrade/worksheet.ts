/** What an upgrade of a project asks of whom: what is done by itself, what must be done by hand, and where. */
import { diffReleases } from "../../generator/diff/diff.js";
import type { DiffFinding } from "../../generator/diff/finding.js";
import type { DiffSide } from "../../generator/diff/side.js";
import type { Fact } from "../../runtime/contract/index.js";
import { fold } from "../diff/fold.js";
import type { Mentions } from "../diff/mentions.js";
import { usedBy } from "../diff/used-by.js";
import { isFact } from "../release/fact.js";

export interface DeprecatedUse {
  readonly tool: string;
  readonly deprecatedIn: string;
  readonly successors: readonly string[];
  /** `<file>:<line>`. */
  readonly usedAt: readonly string[];
}

export interface FactChange {
  /** `signing.profile`. */
  readonly fact: string;
  readonly from: unknown;
  readonly to: unknown;
  /** Place of the newer release that shows it. */
  readonly shown: string;
}

export interface WorksheetItem {
  readonly verdict: DiffFinding["verdict"];
  readonly rule: string;
  /** Findings that say the same of several messages. */
  readonly findings: readonly string[];
  readonly where: string;
  readonly message: string;
  readonly fix: string;
  readonly usedAt: readonly string[];
}

export interface Worksheet {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  /** What touches the project, broken first. */
  readonly byHand: readonly WorksheetItem[];
  readonly deprecated: readonly DeprecatedUse[];
  readonly facts: readonly FactChange[];
  /** Specialisms of the project that are graded otherwise, and steps that are new. */
  readonly graded: readonly WorksheetItem[];
  readonly findings: readonly DiffFinding[];
}

const placesOf = (list: readonly { file: string; line: number }[]): string[] =>
  [...new Set(list.map(({ file, line }) => `${file}:${line}`))].slice(0, 8);

function deprecatedUses(now: DiffSide, mentions: Mentions): DeprecatedUse[] {
  return now.model.tools.flatMap(({ name, deprecatedIn }) => {
    const places = deprecatedIn === undefined ? [] : mentions.ofTool(name);
    if (deprecatedIn === undefined || places.length === 0) return [];
    const successors = now.model.facts.tools.routes[name]?.value.supersededBy ?? [];
    return [{ tool: name, deprecatedIn, successors, usedAt: placesOf(places) }];
  });
}

function* factsOf(held: object, name = ""): Generator<[string, Fact<unknown>]> {
  for (const [key, value] of Object.entries(held)) {
    const full = name === "" ? key : `${name}.${key}`;
    if (isFact(value)) yield [full, value];
    else if (typeof value === "object" && value !== null && !Array.isArray(value)) yield* factsOf(value, full);
  }
}

/** Rules of the wire that no message shows. Tables of tools, kinds and codes have findings of their own. */
const told = /^(signing|discovery|envelope|results|events\.keyBinding)/;

const SAME_FOR_ALL = /^envelope\.(answers|requests)/;

function factChanges(a: DiffSide, b: DiffSide): FactChange[] {
  const [before, now] = [new Map(factsOf(a.model.facts)), new Map(factsOf(b.model.facts))];
  return [...new Set([...before.keys(), ...now.keys()])]
    .filter((fact) => told.test(fact) && !SAME_FOR_ALL.test(fact))
    .filter((fact) => JSON.stringify(before.get(fact)?.value) !== JSON.stringify(now.get(fact)?.value))
    .sort()
    .map((fact) => ({
      fact,
      from: before.get(fact)?.value ?? null,
      to: now.get(fact)?.value ?? null,
      shown: now.get(fact)?.from ?? "",
    }));
}

const items = (findings: readonly DiffFinding[]): WorksheetItem[] =>
  fold(findings).map(({ first, all, where }) => ({
    verdict: first.verdict,
    rule: first.rule,
    findings: all.map(({ id }) => id),
    where,
    message: first.message,
    fix: first.fix,
    usedAt: [...new Set(all.flatMap(({ usedAt = [] }) => usedAt))].slice(0, 8),
  }));

const isGraded = ({ rule }: DiffFinding): boolean => /^(specialism|storyboard|vector)-/.test(rule);
/** Told in a part of its own. */
const isDeprecation = ({ rule }: DiffFinding): boolean => /^tool-(deprecated|superseded|fallback)$/.test(rule);

/** @param mentions of the project's own sources */
export function worksheetOf([a, b]: readonly [DiffSide, DiffSide], mentions: Mentions): Worksheet {
  const touching = usedBy(diffReleases(a, b).findings, mentions, [a, b]).filter(
    ({ undeclaredOnly }) => !undeclaredOnly,
  );
  const open = touching.filter((one) => one.verdict !== "safe");
  return {
    project: mentions.folder,
    from: a.model.version,
    to: b.model.version,
    byHand: items(open.filter((one) => !isGraded(one) && !isDeprecation(one))),
    deprecated: deprecatedUses(b, mentions),
    facts: factChanges(a, b),
    graded: items(touching.filter(isGraded)),
    findings: touching,
  };
}
