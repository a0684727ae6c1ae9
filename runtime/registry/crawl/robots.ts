/**
 * What a domain's robots.txt asks of this crawler (RFC 9309). It is asked for the domain's own host only: where a publisher
 * points to, and a manager it names, are fetched on its word.
 */
import { LRUCache } from "lru-cache";
import type { Fetcher } from "../../net/index.js";

/** The name that groups of a robots.txt may call this crawler by. */
export const ROBOT_NAME = "adbind-registry";
/** Longest robots.txt read, in bytes (RFC 9309, 2.5). */
const MAX_BYTES = 500 * 1024;
const MAX_RULES = 2_000;
/** Longest rule kept, in characters: matching one costs no more than its length. */
const MAX_RULE = 500;
const REDIRECTS = { hops: 5, scope: "any" } as const;
/** How long an answer is kept (RFC 9309, 2.4), in milliseconds; one that could not be had, less. */
const KEPT_MS = 86_400_000;
const FAILED_MS = 3_600_000;
const MAX_KEPT = 20_000;
/** Characters of rules kept of all domains together: the usual domain has none that concern what is asked for. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Under it is all that is asked for (RFC 8615). */
const PLACE = "/.well-known/";
const TIMEOUTS = { readMs: 5_000, totalMs: 5_000 } as const;

interface Rule {
  readonly allow: boolean;
  readonly path: string;
}

const isOurs = (agent: string): boolean => agent === ROBOT_NAME || agent === "*";

interface RuleGroup {
  readonly agents: string[];
  readonly rules: Rule[];
}

/** Whether a rule can say something of what is asked for. */
function concerns(rule: string): boolean {
  const [beginning = ""] = rule.split(/[*$]/, 1);
  return PLACE.startsWith(beginning) || beginning.startsWith(PLACE);
}

/** Rules that can say something of what is asked for, by group; large publishers have thousands of others. */
function groupsIn(text: string): RuleGroup[] {
  const groups: RuleGroup[] = [];
  let rules = 0;
  // Lines of agents that follow each other are of one group.
  let naming = false;
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    const [, name, value] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const given = value.trim();
    switch (name.toLowerCase()) {
      case "user-agent":
        if (!naming) groups.push({ agents: [], rules: [] });
        groups.at(-1)!.agents.push(given.toLowerCase());
        naming = true;
        break;
      case "allow":
      case "disallow":
        naming = false;
        // An empty rule says nothing; neither does one before any group, nor one of a group that is not ours.
        if (given === "" || given.length > MAX_RULE || rules === MAX_RULES) break;
        if (!concerns(given) || !groups.at(-1)?.agents.some(isOurs)) break;
        rules += 1;
        groups.at(-1)?.rules.push({ allow: name.toLowerCase() === "allow", path: given });
        break;
    }
  }
  return groups;
}

/** Whether a rule's path is the beginning of a path; `*` is anything, `$` the end. */
function matches(rule: string, path: string): boolean {
  const ends = rule.endsWith("$");
  const [first, ...pieces] = (ends ? rule.slice(0, -1) : rule).split("*");
  if (!path.startsWith(first!)) return false;
  let at = first!.length;
  for (const [index, piece] of pieces.entries()) {
    const last = index === pieces.length - 1;
    const found = last && ends ? path.lastIndexOf(piece) : path.indexOf(piece, at);
    if (found < at) return false;
    at = found + piece.length;
  }
  return !ends || at === path.length;
}

/** What a robots.txt says to this crawler of places under `/.well-known/`. */
export function robotsRulesIn(text: string): readonly Rule[] {
  const groups = groupsIn(text);
  const own = groups.filter(({ agents }) => agents.includes(ROBOT_NAME));
  return (own.length > 0 ? own : groups.filter(({ agents }) => agents.includes("*"))).flatMap((one) => one.rules);
}

/** Whether rules let this crawler fetch a path: the longest one counts, and of two alike the one that allows. */
export function robotsAllow(rules: readonly Rule[], path: string): boolean {
  const fitting = rules.filter((rule) => matches(rule.path, path));
  const longest = Math.max(0, ...fitting.map((rule) => rule.path.length));
  const deciding = fitting.filter((rule) => rule.path.length === longest);
  return deciding.length === 0 || deciding.some(({ allow }) => allow);
}

/** Whether a path of a domain may be fetched. @param fresh what is kept does not count */
export type Robots = (domain: string, path: string, fresh: boolean) => Promise<boolean>;

/**
 * Asks domains for their robots.txt. One that cannot be had forbids nothing: an origin that is down serves no file either, and
 * many that are up answer an error for what they do not have.
 */
export function robotsOf(fetch: Fetcher, now: () => number, signal: AbortSignal): Robots {
  const kept = new LRUCache<string, readonly Rule[]>({
    max: MAX_KEPT,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: (rules) => rules.reduce((sum, { path }) => sum + path.length, 1),
    perf: { now },
    ttlResolution: 0,
  });
  return async (domain, path, fresh) => {
    let rules = fresh ? undefined : kept.get(domain);
    if (rules === undefined) {
      const found = await fetch(`https://${domain}/robots.txt`, {
        maxBytes: MAX_BYTES,
        oversize: "truncate",
        redirects: REDIRECTS,
        headers: { accept: "text/plain" },
        timeouts: TIMEOUTS,
        signal,
      });
      const had = found.ok && found.status === 200;
      rules = had ? robotsRulesIn(Buffer.from(found.body).toString("utf8")) : [];
      kept.set(domain, rules, { ttl: found.ok && found.status < 500 ? KEPT_MS : FAILED_MS });
    }
    return robotsAllow(rules, path);
  };
}
