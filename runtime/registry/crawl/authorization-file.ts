/**
 * Reads an agent-authorization file as far as it may speak for one domain (docs/protocol/files.md#adagentsjson). An entry that
 * cannot be used is left out and noted; it never costs the others.
 */

import { isJsonObject } from "../../contract/json-object.js";
import { type FileProblem, FileProblems, fileProblem, type ProblemRule } from "../file-problems.js";
import { unreached } from "../matching.js";
import { sameSite } from "../model.js";
import type { AgentEntry, AuthorizationFile, PropertyRecord } from "../types.js";
import { type Reading, readAgentEntry } from "./agent-entry.js";
import type { JsonRecord } from "./document.js";
import type { Via } from "./locate.js";
import { readProperty } from "./properties.js";
import { readSignals } from "./signals.js";
import { domainIn, instantOf, textOf, textsOf } from "./values.js";

/** Most of each that one file may have. What they make is written in one transaction. */
const MAX_AGENTS = 5_000;
const MAX_PROPERTIES = 100_000;
const MAX_SIGNALS = 20_000;
const MAX_OTHERS = 20_000;
/** And what they say, in characters as it is kept: one list of tags may be said of all of them. */
const MAX_OTHERS_CHARACTERS = 8_000_000;
/** Of one publisher: it is kept beside what a thousand others say of the same one, and read with that. */
const MAX_CLAIM_CHARACTERS = 200_000;
const MAX_COLLECTIONS = 10_000;
const MAX_REVOCATIONS = 10_000;

export interface ReadOptions {
  readonly domain: string;
  readonly via: Via;
  /** Domains whose revocation by this file is still held, whatever the file says now. */
  readonly revoked?: readonly string[];
  /** Unix milliseconds. */
  readonly now: number;
}

export type ReadFile =
  | {
      readonly ok: true;
      readonly file: AuthorizationFile;
      readonly problems: readonly FileProblem[];
      /** Domains the file speaks for no more. */
      readonly revokes: readonly string[];
    }
  /** The first problem is why. */
  | { readonly ok: false; readonly problems: readonly [FileProblem, ...FileProblem[]] };

/** The first `limit` of a list; what is beyond is noted. */
function listIn(document: JsonRecord, name: string, limit: number, problems: FileProblems): unknown[] {
  const value = document[name];
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.add("list_expected", `/${name}`, "it is not a list");
    return [];
  }
  if (value.length > limit)
    problems.add("list_too_long", `/${name}`, `it has ${value.length}, only the first ${limit} are read`);
  return value.slice(0, limit);
}

const isLonger = (value: unknown, limit: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length > limit;

function propertiesIn(document: JsonRecord, { domain, via }: ReadOptions, problems: FileProblems) {
  const own: PropertyRecord[] = [];
  const foreignIds = new Set<string>();
  const unusable: JsonRecord[] = [];
  listIn(document, "properties", MAX_PROPERTIES, problems).forEach((value, index) => {
    const pointer = `/properties/${index}`;
    const read = readProperty(value, { domain, pointer, problems });
    if (read === undefined) {
      if (isJsonObject(value) && isLabelled(value, domain)) unusable.push(value);
      return;
    }
    const { property, owner } = read;
    if (owner === "domain" || (owner === "unlabelled" && via !== "manager")) own.push(property);
    else if (property.id !== null) foreignIds.add(property.id);
    if (owner === "other" && via === "own")
      problems.add("property_foreign", pointer, "it is another publisher's: only that one's own file can declare it");
  });
  for (const { id } of own) if (id !== null) foreignIds.delete(id);
  return { own, foreignIds, unusable };
}

const isLabelled = ({ publisher_domain }: JsonRecord, domain: string): boolean => {
  const named = domainIn(publisher_domain);
  return named !== undefined && sameSite(named, domain);
};

/** Does an entry select a property of the domain that cannot be used? Then the file names the domain, though not what it may sell. */
function namesUnusable(agents: readonly unknown[], unusable: readonly JsonRecord[]): boolean {
  const ids = new Set(unusable.flatMap(({ property_id }) => textOf(property_id, 255) ?? []));
  const tags = new Set(unusable.flatMap((one) => textsOf(one.tags, 255, 200) ?? []));
  return agents.some(
    (agent) =>
      isJsonObject(agent) &&
      ((textsOf(agent.property_ids, 255, 10_000) ?? []).some((id) => ids.has(id)) ||
        (textsOf(agent.property_tags, 255, 10_000) ?? []).some((tag) => tags.has(tag))),
  );
}

/** `revoked_publisher_domains`: one with a date ahead is not yet in force; one without a readable date is. */
function revocationsIn(document: JsonRecord, now: number, problems: FileProblems): string[] {
  const domains = new Set<string>();
  for (const value of listIn(document, "revoked_publisher_domains", MAX_REVOCATIONS, problems)) {
    const domain = isJsonObject(value) ? domainIn(value.publisher_domain) : domainIn(value);
    const at = isJsonObject(value) ? instantOf(value.revoked_at) : undefined;
    if (domain !== undefined && (at === undefined || at <= now)) domains.add(domain);
  }
  return [...domains];
}

function genresIn(document: JsonRecord, problems: FileProblems): { genres: string[]; genreTaxonomy: string | null } {
  const genres = new Set<string>();
  let genreTaxonomy: string | null = null;
  for (const value of listIn(document, "collections", MAX_COLLECTIONS, problems)) {
    if (!isJsonObject(value)) continue;
    const given: unknown = typeof value.genre === "string" ? [value.genre] : value.genre;
    for (const genre of textsOf(given, 255, 100) ?? []) genres.add(genre);
    genreTaxonomy ??= textOf(value.genre_taxonomy, 255) ?? null;
  }
  return { genres: [...genres].slice(0, 1_000), genreTaxonomy };
}

/** Lists that a file without agents may be there for. */
const catalogues = ["properties", "placements", "formats", "collections", "signals"] as const;

const hasCatalogue = (document: JsonRecord): boolean =>
  catalogues.some((name) => Array.isArray(document[name]) && document[name].length > 0);

/** Does any agent's `collections` name the domain? Then the manager's file speaks of it, if not of its properties. */
const namesCollections = (agents: readonly unknown[], domain: string): boolean =>
  agents.some(
    (agent) =>
      isJsonObject(agent) &&
      Array.isArray(agent.collections) &&
      agent.collections.some((one) => {
        const named = isJsonObject(one) ? domainIn(one.publisher_domain) : undefined;
        return named !== undefined && sameSite(named, domain);
      }),
  );

interface Entries {
  readonly agents: AgentEntry[];
  readonly others: { readonly publisherDomain: string; readonly agent: AgentEntry }[];
  readonly usable: number;
}

/** Entries of one agent add up, which whoever writes them may not mean. */
function noteTwice(given: readonly unknown[], problems: FileProblems): void {
  const seen = new Set<unknown>();
  given.forEach((value, index) => {
    if (!isJsonObject(value) || typeof value.url !== "string") return;
    const key = `${value.url} ${JSON.stringify(value.authorization_type)}`;
    if (seen.has(key))
      problems.add("agent_twice", `/authorized_agents/${index}`, "an entry before it names this agent");
    seen.add(key);
  });
}

type Other = Entries["others"][number];

/** How long what claims say is when it is kept, in characters; a selector that many share is looked at once. */
function claimWeights(): (others: readonly Other[]) => number[] {
  const known = new WeakMap<object, number>();
  const lengthOf = (value: object): number => {
    const found = known.get(value) ?? JSON.stringify(value).length;
    known.set(value, found);
    return found;
  };
  return (others) => {
    // All of one entry differ in their selectors alone.
    const { publisherProperties: _, ...same } = others[0]?.agent ?? {};
    const base = JSON.stringify(same).length;
    return others.map(({ agent }) =>
      (agent.publisherProperties ?? []).reduce((sum, selector) => sum + lengthOf(selector), base),
    );
  };
}

function entriesIn(given: readonly unknown[], reading: Reading): Entries {
  const agents: AgentEntry[] = [];
  const others: Entries["others"] = [];
  let [usable, left, room] = [0, MAX_OTHERS, MAX_OTHERS_CHARACTERS];
  const weightsOf = claimWeights();
  const said = new Map<string, number>();
  given.forEach((value, index) => {
    const read = readAgentEntry(value, `/authorized_agents/${index}`, reading);
    if (read.usable) usable += 1;
    if (read.entry !== undefined) agents.push({ ...read.entry, place: index });
    const weights = weightsOf(read.others);
    const kept = read.others.filter(({ publisherDomain }, at) => {
      const ofIt = (said.get(publisherDomain) ?? 0) + weights[at]!;
      if (left === 0 || weights[at]! > room || ofIt > MAX_CLAIM_CHARACTERS) return false;
      said.set(publisherDomain, ofIt);
      left -= 1;
      room -= weights[at]!;
      return true;
    });
    others.push(...kept);
    if (kept.length < read.others.length)
      reading.problems.add(
        "list_too_long",
        `/authorized_agents/${index}/publisher_properties`,
        `it speaks of more publishers, or says more of them, than is kept: of ${read.others.length - kept.length} nothing is`,
      );
  });
  return { agents, others, usable };
}

/** @see ReadFile */
export function readAuthorizationFile(document: JsonRecord, options: ReadOptions): ReadFile {
  const { domain, via, now } = options;
  const problems = new FileProblems();
  const unusable = (rule: ProblemRule, pointer: string, message: string): ReadFile => ({
    ok: false,
    problems: [fileProblem(rule, pointer, message), ...problems.list],
  });
  if (!Array.isArray(document.authorized_agents))
    return unusable("agents_missing", "/authorized_agents", "authorized_agents is not a list");
  const given = listIn(document, "authorized_agents", MAX_AGENTS, problems);
  const { own, foreignIds, unusable: unread } = propertiesIn(document, options, problems);
  const ownIds = new Set(own.flatMap(({ id }) => id ?? []));
  const ownTags = new Set(own.flatMap(({ tags }) => tags));
  const signals = readSignals(listIn(document, "signals", MAX_SIGNALS, problems), document.signal_tags, problems);
  noteTwice(given, problems);
  const { agents, others, usable } = entriesIn(given, { domain, via, problems, ownIds, ownTags, foreignIds, signals });
  // Nothing at all that could be used is a broken file, not one that takes everything back.
  if (given.length > 0 && usable === 0)
    return unusable("no_usable_agent", "/authorized_agents", "no entry of authorized_agents can be used");
  if (given.length === 0 && !hasCatalogue(document))
    return unusable("nothing_declared", "/authorized_agents", "the file names no agent and publishes nothing");
  const listed = revocationsIn(document, now, problems);
  const revoked = new Set([...listed, ...(options.revoked ?? [])]);
  const gone = [...revoked].some((one) => sameSite(one, domain));
  if (gone)
    problems.add("domain_revoked", "/revoked_publisher_domains", "the file does not speak for this domain any more");
  else if (
    via === "manager" &&
    agents.length === 0 &&
    !namesCollections(given, domain) &&
    !namesUnusable(given, unread)
  )
    return unusable("manager_silent", "/authorized_agents", "the manager's file does not name this publisher");
  const file: AuthorizationFile = {
    agents: gone ? [] : agents,
    properties: gone ? [] : own,
    ...(isLonger(document.properties, MAX_PROPERTIES) && { propertiesDeclared: document.properties.length }),
    // Collections carry no label: in a manager's file they could be anyone's.
    ...(gone || via === "manager" ? { genres: [], genreTaxonomy: null } : genresIn(document, problems)),
    lastUpdated: instantOf(document.last_updated) ?? null,
    others: others.filter(({ publisherDomain }) => !revoked.has(publisherDomain)),
  };
  for (const { place } of unreached(file))
    problems.add(
      "selects_too_much",
      `/authorized_agents/${place}`,
      "the entries before it select more properties than are looked at, or kept: it selects none",
    );
  return { ok: true, file, problems: problems.list, revokes: listed };
}
