/** Which of a seller's own entities stands for a fixture: the clauses of `fixture_resolution`. */
import { isJsonObject } from "../contract/index.js";
import { isSame } from "./equality.js";
import { fieldAt } from "./paths.js";

export interface MatchClause {
  readonly path?: unknown;
  readonly operator?: unknown;
  readonly value?: unknown;
  readonly where?: unknown;
}

/** A clause that no runner could read: the storyboard is wrong, not the agent. */
export class ClauseError extends Error {}

const at = (candidate: unknown, pointer: unknown): unknown =>
  fieldAt(
    candidate,
    String(pointer)
      .split("/")
      .filter((token) => token !== "")
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
      .join("."),
  );

export const clausesOf = (value: unknown): MatchClause[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

const holds: Readonly<Record<string, (value: unknown, clause: MatchClause) => boolean>> = {
  equals: (value, clause) => isSame(value, clause.value),
  present: (value) => value !== undefined && value !== null,
  contains_all: (value, clause) =>
    Array.isArray(value) &&
    Array.isArray(clause.value) &&
    clause.value.every((wanted) => value.some((one) => isSame(one, wanted))),
  any_match: (value, clause) => Array.isArray(value) && value.some((one) => matches(one, clausesOf(clause.where))),
  canonical_format_satisfies: (value, clause) => satisfies(value, clause.value),
};

/** A declared format meets a wanted one where it is of its kind and says the same of everything that is asked. */
function satisfies(declared: unknown, wanted: unknown): boolean {
  if (Array.isArray(declared)) return declared.some((one) => satisfies(one, wanted));
  if (!isJsonObject(declared) || !isJsonObject(wanted)) return isSame(declared, wanted);
  return Object.entries(wanted).every(([key, value]) =>
    isJsonObject(value) ? satisfies(declared[key], value) : isSame(declared[key], value),
  );
}

/** Whether an entity meets all clauses; none at all is met by nothing. @throws ClauseError */
export function matches(candidate: unknown, clauses: readonly MatchClause[]): boolean {
  return (
    clauses.length > 0 &&
    clauses.every((clause) => {
      const operator = String(clause.operator);
      const judge = Object.hasOwn(holds, operator) ? holds[operator] : undefined;
      if (judge === undefined) throw new ClauseError(`no operator ${operator} is known to fixture_resolution`);
      return judge(at(candidate, clause.path), clause);
    })
  );
}

/** Of several, the one whose identity is the smallest by its bytes: the order of an answer tells nothing. */
export const firstByBytes = <T>(items: readonly T[], identity: (item: T) => string): T | undefined =>
  [...items].sort((a, b) => Buffer.compare(Buffer.from(identity(a)), Buffer.from(identity(b))))[0];
