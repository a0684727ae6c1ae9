/** Which storyboards a run holds an agent to: what its capabilities call for, or what was asked for. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { Phase, Storyboard } from "./document.js";
import type { Suite } from "./load.js";

export interface Selected {
  readonly storyboard: Storyboard;
  /** The agent claims by a specialism what it is about. */
  readonly claimed: boolean;
}

export interface Selection {
  readonly selected: readonly Selected[];
  readonly notSelected: readonly { readonly id: string; readonly why: string }[];
  readonly notices: readonly string[];
  /** What makes the agent's own declaration unusable. */
  readonly faults: readonly string[];
}

export interface RunScope {
  readonly storyboards?: readonly string[];
  readonly specialisms?: readonly string[];
}

const kebab = (id: string): string => id.replaceAll("_", "-");

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

/** Protocols without storyboards of their own. */
const withoutBaseline = new Set(["measurement", "compliance-testing"]);

class Picked {
  readonly by = new Map<string, Selected>();
  private readonly ids: ReadonlyMap<string, Storyboard>;

  constructor(private readonly suite: Suite) {
    this.ids = new Map(suite.storyboards.map((one) => [one.id, one]));
  }

  /** Puts what a storyboard requires before it. */
  add(storyboard: Storyboard, claimed: boolean): void {
    for (const id of storyboard.requires_scenarios ?? []) {
      const required = this.ids.get(id);
      if (required !== undefined) this.put(required, claimed);
    }
    this.put(storyboard, claimed);
  }

  private put(storyboard: Storyboard, claimed: boolean): void {
    const known = this.by.get(storyboard.id);
    this.by.set(storyboard.id, {
      storyboard: known?.storyboard ?? storyboard,
      claimed: claimed || known?.claimed === true,
    });
  }

  /** Every storyboard below a folder, the folder's own first. @returns whether there is one */
  folder(folder: string, claimed: boolean): boolean {
    const found = this.suite.storyboards.filter(({ file }) => file.startsWith(folder));
    const own = found.filter(({ file }) => file === `${folder}index.yaml`);
    for (const one of [...own, ...found.filter((other) => !own.includes(other))]) this.add(one, claimed);
    return found.length > 0;
  }
}

function bySpecialism(picked: Picked, id: string): boolean {
  if (kebab(id) === "signed-requests") return picked.folder("universal/signed-requests", true);
  return picked.folder(`specialisms/${kebab(id)}/`, true);
}

/** Specialisms that a suite has storyboards of. */
const specialismsOf = ({ storyboards }: Suite): string[] => [
  ...new Set(storyboards.flatMap(({ file }) => /^specialisms\/([^/]+)\//.exec(file)?.[1] ?? [])),
];

/** What lacks is the suite's, or the specialism's: a folder that was not copied is no id that was misspelt. */
function noStoryboardsOf(suite: Suite, id: string): AdbindError {
  const known = specialismsOf(suite);
  const listed = suite.index?.specialisms?.some((one) => kebab(one.id) === id) === true;
  const where = suite.place;
  if (known.length > 0 && !listed)
    return new AdbindError("usage", `the suite has no specialism ${id}`, {
      where,
      remedy: `it has ${known.join(", ")}`,
    });
  const lacking = listed ? `specialisms/${id}/, which its index.json lists` : "any folder below specialisms/";
  return new AdbindError("usage", `the suite is not whole: it lacks ${lacking}`, {
    where,
    remedy: "give the whole compliance/ folder of a release, or its bundle",
  });
}

function explicit(suite: Suite, wanted: RunScope, picked: Picked): void {
  const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });
  for (const id of wanted.storyboards ?? []) {
    const found = suite.storyboards.filter((one) => one.id === id || one.file === id);
    if (found.length === 0)
      throw usage(
        `the suite has no storyboard ${id}`,
        `it has ${suite.storyboards
          .map((one) => one.id)
          .sort()
          .join(", ")}`,
      );
    for (const one of found) picked.by.set(one.id, { storyboard: one, claimed: true });
  }
  for (const id of wanted.specialisms ?? []) if (!bySpecialism(picked, id)) throw noStoryboardsOf(suite, kebab(id));
}

/** Kinds of sellers that have to tell who a caller's accounts are. */
const withAccounts = /^(sales-|audience-sync$|governance-|creative-generative$)/;

/** A suite without an index is run whole. What the agent claims and it says nothing of is told: no storyboard failed for want of one. */
function everything(suite: Suite, capabilities: JsonObject | undefined, picked: Picked): string[] {
  for (const one of suite.storyboards) picked.add(one, false);
  const known = new Set(specialismsOf(suite));
  const missing = strings(capabilities?.specialisms).filter((id) => !known.has(kebab(id)));
  const what = `nothing was run of what the agent declares as ${missing.join(", ")}`;
  return missing.length === 0 ? [] : [`${what}: the suite has no index.json, and no storyboard of it`];
}

/** Why nothing of a specialism was run that the agent declares. */
function unrun(suite: Suite, id: string): string {
  const listed = suite.index?.specialisms?.some((one) => kebab(one.id) === id) === true;
  if (listed || specialismsOf(suite).length === 0)
    return `the agent declares the specialism ${id}, and the suite is not whole: it holds no storyboard of it`;
  return `the agent declares the specialism ${id}, which the release does not have`;
}

function byCapabilities(suite: Suite, capabilities: JsonObject | undefined, picked: Picked) {
  const notices: string[] = [];
  const faults: string[] = [];
  picked.folder("universal/", false);
  if (capabilities === undefined) {
    notices.push("the agent declares no capabilities: only what holds for every agent is run");
    return { notices, faults };
  }
  const protocols = strings(capabilities.supported_protocols).map(kebab);
  for (const protocol of protocols)
    if (!picked.folder(`protocols/${protocol}/`, false) && !withoutBaseline.has(protocol))
      notices.push(`the suite has nothing about the protocol ${protocol}, which the agent declares`);
  for (const id of strings(capabilities.specialisms).map(kebab)) {
    if (!bySpecialism(picked, id)) faults.push(unrun(suite, id));
    if (id === "signed-requests")
      notices.push("signed-requests as a specialism is deprecated: the capability request_signing says it");
    const parent = suite.index?.specialisms?.find((one) => one.id === id)?.protocol;
    if (parent !== undefined && !protocols.includes(kebab(parent)))
      faults.push(`the agent declares the specialism ${id} without its protocol ${parent}`);
  }
  return { notices, faults };
}

/** A storyboard that says how many items a whole list has: what others have made would stand in it. */
const counts = ({ steps }: Phase): boolean =>
  steps.some(({ validations = [] }) =>
    validations.some(({ path, value }) => path === "pagination.has_more" && value === false),
  );

/** One that places an account under a governance agent: the plan it leaves decides on later orders too. */
const governs = ({ steps }: Phase): boolean => steps.some(({ task }) => task === "sync_governance");

/** No storyboard takes away what it has made: those that would be disturbed come first, those that would disturb last. */
function inOrder(selected: readonly Selected[]): Selected[] {
  const rank = ({ storyboard: { phases } }: Selected): number =>
    phases.some(counts) ? 0 : phases.some(governs) ? 2 : 1;
  return selected.toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Chooses what is run.
 * @param capabilities payload of the agent's capabilities; undefined where it gives none
 * @throws AdbindError `usage` for an id that the suite does not have
 */
export function selectStoryboards(
  suite: Suite,
  capabilities: JsonObject | undefined,
  wanted: RunScope,
  tools: ReadonlySet<string>,
): Selection {
  const picked = new Picked(suite);
  const asked = (wanted.storyboards?.length ?? 0) + (wanted.specialisms?.length ?? 0) > 0;
  let notices: readonly string[] = [];
  let faults: string[] = [];
  if (asked) explicit(suite, wanted, picked);
  else if (suite.index === undefined) notices = everything(suite, capabilities, picked);
  else ({ notices, faults } = byCapabilities(suite, capabilities, picked));
  const claims = strings(capabilities?.specialisms).map(kebab);
  if (
    !asked &&
    claims.some((id) => withAccounts.test(id)) &&
    tools.size > 0 &&
    !tools.has("list_accounts") &&
    !tools.has("sync_accounts")
  )
    faults.push(
      "the agent declares a specialism that needs accounts, and offers neither list_accounts nor sync_accounts",
    );
  const why = asked ? "explicit_scope_excluded" : "profile_excluded";
  const notSelected = suite.storyboards.filter(({ id }) => !picked.by.has(id)).map(({ id }) => ({ id, why }));
  return { selected: inOrder([...picked.by.values()]), notSelected, notices, faults };
}

/** The line of an agent's list that names a release, as the agent spells it. */
export function pinFor(capabilities: JsonObject | undefined, word: string, version: string): string | undefined {
  const block = isJsonObject(capabilities?.[word]) ? capabilities[word] : {};
  const versions = strings(block.supported_versions);
  return versions.find((one) => isLine(one, version));
}

/** Whether an agent says that it speaks a release: by `3.1`, or by the whole version. */
export function speaks(capabilities: JsonObject | undefined, word: string, version: string): boolean {
  const block = isJsonObject(capabilities?.[word]) ? capabilities[word] : {};
  const versions = strings(block.supported_versions);
  if (versions.length > 0) return versions.some((one) => isLine(one, version));
  const majors = Array.isArray(block.major_versions) ? block.major_versions : [];
  return majors.length === 0 || majors.includes(Number(version.split(".")[0]));
}

/** `3.2-beta.5` and `3.2.0-beta.5` name the same prerelease. */
const isLine = (line: string, version: string): boolean => {
  const [numbers = "", tail] = version.split(/-(.*)/s);
  const short = numbers.split(".").slice(0, 2).join(".") + (tail ? `-${tail}` : "");
  return line === version || line === short;
};
