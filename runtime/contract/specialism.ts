/** What an agent takes on by claiming a specialism, and whether its tools are all there. */

export interface Specialism {
  /** Home protocol; exercised tools may belong to others. */
  readonly protocol: string;
  readonly title?: string;
  /** Who takes it on, where that is somebody who calls: its tools are then called, and not answered. */
  readonly role?: "buyer" | "orchestrator";
  /** Tools an implementer must ship to claim the specialism. */
  readonly entryPoints: readonly string[];
  /** Every tool a claimant must be ready to answer; entry points included. */
  readonly exercised: readonly string[];
  /** Names the release lists as exercised that are no tools: steps of its conformance harness. */
  readonly harness: readonly string[];
}
/** Specialism id -> its tools. */
export type SpecialismTable = { readonly [id: string]: Specialism };

/**
 * The tools that a claimant answers. An entry that names none is of an agent that speaks its protocol: then they are the
 * protocol's own, all of them required.
 * @param tools the release's, by name
 */
export function toolsOfClaim(
  { protocol, entryPoints, exercised }: Pick<Specialism, "protocol" | "entryPoints" | "exercised">,
  tools: Iterable<readonly [name: string, tool: { readonly protocol: string }]>,
): { readonly required: readonly string[]; readonly all: readonly string[] } {
  if (entryPoints.length + exercised.length > 0)
    return { required: entryPoints, all: [...new Set([...entryPoints, ...exercised])] };
  const own = [...tools].flatMap(([name, tool]) => (tool.protocol === protocol ? [name] : []));
  return { required: own, all: own };
}

/** What an agent lacks for a specialism: tools it must answer, tools its storyboards call. */
export interface SpecialismCheck {
  /** Every entry point is there: the specialism may be claimed. */
  readonly ok: boolean;
  /** Every exercised tool is there too: each call of the conformance kit has an answer. */
  readonly complete: boolean;
  /** The id as the release spells it; null when the release has no such specialism. */
  readonly specialism: string | null;
  readonly missingEntryPoints: readonly string[];
  readonly missingExercised: readonly string[];
}

/**
 * Makes a release's `checkSpecialism(id, tools)`.
 * Ids may be kebab-case, as agents declare them; `tools` are names, or an object keyed by them.
 */
export const specialismChecks =
  <T extends SpecialismTable>(table: T) =>
  (id: (keyof T & string) | (string & {}), tools: Iterable<string> | object): SpecialismCheck => {
    const known = id.replaceAll("-", "_");
    const entry = Object.hasOwn(table, id) ? table[id] : Object.hasOwn(table, known) ? table[known] : undefined;
    if (entry === undefined) {
      return { ok: false, complete: false, specialism: null, missingEntryPoints: [], missingExercised: [] };
    }
    const have = new Set<string>(Symbol.iterator in tools ? (tools as Iterable<string>) : Object.keys(tools));
    const missingEntryPoints = entry.entryPoints.filter((name) => !have.has(name));
    const missingExercised = entry.exercised.filter((name) => !have.has(name));
    return {
      ok: missingEntryPoints.length === 0,
      complete: missingExercised.length === 0 && missingEntryPoints.length === 0,
      specialism: Object.hasOwn(table, id) ? id : known,
      missingEntryPoints,
      missingExercised,
    };
  };
