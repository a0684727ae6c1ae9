/** Why an agent may sell this: file, entry, selector, dates, and the path from the publisher to the agent; and why not. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { agentsByUrl } from "../store/registry-agents.js";
import { claimsBetween } from "../store/registry-claims.js";
import { pairChange } from "../store/registry-feed.js";
import { edgeFactsOf, edgesBetween, propertiesNamed, publishersByDomain } from "../store/registry-lookups.js";
import type { EdgeRow, PublisherRow } from "../store/registry-publishers.js";
import { counting, type KnownProperty, knownProperty } from "./known-properties.js";
import { expectedUrl, iso, isoOrNull } from "./model.js";
import type { EntryGrant, Explanation, PathStep, ToldProperty, WhyNot, WhyNotCode } from "./page-types.js";
import { activeAt, type StoredEntry } from "./project.js";
import { covers } from "./publisher.js";
import type { DiscoveryMethod } from "./types.js";

/** Values of a selector told; an entry may name ten thousand properties. */
const SELECTOR_VALUES = 50;
/** What others say of a publisher and an agent is told of so many of them. */
const CLAIMS_TOLD = 20;

const selectors = ["propertyIds", "propertyTags", "publisherProperties", "signalIds", "signalTags"] as const;
const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** Members of a file's own objects, as the file writes them. */
const asWritten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, SELECTOR_VALUES).map(asWritten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [wireName(name), asWritten(one)]));
};

const selectorOf = (entry: StoredEntry): Record<string, unknown> =>
  Object.fromEntries(
    selectors.flatMap((name) => (entry[name] === undefined ? [] : [[wireName(name), asWritten(entry[name])]])),
  );

export const toldProperty = ({ source, property }: KnownProperty): ToldProperty => ({
  id: property.id,
  type: property.type,
  name: property.name,
  identifiers: property.identifiers.map(({ type, value }) => ({ type, value })),
  tags: property.tags,
  channels: property.channels ?? [],
  source,
});

interface Asked {
  readonly now: number;
  /** The publisher's own file is valid: a hosted one gives way to it. */
  readonly valid: boolean;
  /** Absent where nobody asked for one. */
  readonly property: KnownProperty | undefined;
}

const grantsOf = (edge: EdgeRow, { now, valid, property }: Asked): EntryGrant[] =>
  (JSON.parse(edge.entries) as StoredEntry[]).map((entry) => {
    const claimed = edge.source === "agent_claim";
    const keys = entry.covers === null ? null : new Set(entry.covers);
    return {
      source: edge.source,
      claimant: claimed ? edge.claimant : null,
      pointer: entry.place === undefined ? null : `/authorized_agents/${entry.place}`,
      authorized_for: entry.authorizedFor ?? null,
      authorization_type: entry.authorizationType ?? null,
      selector: selectorOf(entry),
      countries: entry.countries ?? [],
      delegation_type: entry.delegationType ?? null,
      exclusive: entry.exclusive ?? null,
      effective_from: isoOrNull(entry.effectiveFrom ?? null),
      effective_until: isoOrNull(entry.effectiveUntil ?? null),
      in_effect: activeAt(entry, now),
      counts: !claimed && !(edge.source === "aao_hosted" && valid),
      covers: keys === null ? null : keys.size,
      covers_property:
        property === undefined ? null : covers(keys, edge, { source: property.source, key: property.key }),
    };
  });

const lets = (grant: EntryGrant): boolean =>
  grant.counts && grant.in_effect && grant.covers !== 0 && grant.covers_property !== false;

const where = (row: PublisherRow | undefined, domain: string): Explanation["file"] => ({
  expected_url: expectedUrl(domain),
  url: row?.valid === 1 ? (row.resolved_url ?? expectedUrl(domain)) : null,
  method: (row?.valid === 1 ? row.method : null) as DiscoveryMethod | null,
  manager_domain: row?.valid === 1 ? row.manager_domain : null,
  outcome: row?.outcome ?? null,
  last_crawled: isoOrNull(row?.crawled_at ?? null),
  last_validated: isoOrNull(row?.validated_at ?? null),
});

/** The steps to an entry; of a claim, to whoever claims. */
function pathOf(domain: string, agentUrl: string, file: Explanation["file"], grant: EntryGrant): PathStep[] {
  const start: PathStep = { step: "publisher", message: `the publisher ${domain}` };
  const end: PathStep = { step: "agent", message: endOf(grant), url: agentUrl };
  if (grant.source === "agent_claim")
    return [{ step: "claim", message: `said by ${grant.claimant}, which is not the publisher's word` }, end];
  if (grant.source === "aao_hosted")
    return [start, { step: "hosted_file", message: "a file that this registry hosts for it" }, end];
  const steps: PathStep[] = [start];
  switch (file.method) {
    case "ads_txt_managerdomain":
      steps.push({ step: "manager", message: `names ${file.manager_domain} as its manager in ads.txt` });
      break;
    case "authoritative_location":
      steps.push({ step: "pointer", message: "points to an authoritative location", url: file.expected_url });
      break;
    case "direct":
    case null:
      break;
  }
  const found = file.last_validated === null ? "" : `, last valid on ${file.last_validated.slice(0, 10)}`;
  steps.push({ step: "file", message: `the file${found}`, url: file.url ?? file.expected_url });
  if (grant.pointer !== null) steps.push({ step: "entry", message: `its entry ${grant.pointer}` });
  return [...steps, end];
}

function endOf({ delegation_type: delegation, authorized_for: what }: EntryGrant): string {
  const kind = {
    direct: "which sells directly",
    delegated: "to which selling is delegated",
    ad_network: "as an ad network",
  };
  return `the agent${delegation === null ? "" : `, ${kind[delegation]}`}${what === null ? "" : `, for: ${what}`}`;
}

const reason = (code: WhyNotCode, message: string, remedy: string): WhyNot => ({ code, message, remedy });

/** Why one entry does not let the agent sell what was asked. */
function againstGrant(grant: EntryGrant, domain: string, now: number): WhyNot {
  const entry = grant.pointer ?? "the entry";
  if (grant.source === "agent_claim")
    return reason("claim_only", `only ${grant.claimant} says so`, `${domain} has to name the agent in its own file`);
  if (!grant.counts)
    return reason(
      "superseded",
      "the file hosted here names it, but the publisher has a file of its own, which counts",
      "name the agent in the publisher's own file",
    );
  if (!grant.in_effect)
    return grant.effective_until !== null && Date.parse(grant.effective_until) < now
      ? reason("ended", `${entry} ended on ${grant.effective_until}`, "set a later effective_until, or take it out")
      : reason(
          "not_yet",
          `${entry} begins on ${grant.effective_from}`,
          "wait for it, or set an earlier effective_from",
        );
  if (grant.authorization_type === "signal_ids" || grant.authorization_type === "signal_tags")
    return reason("signals_only", `${entry} is about signals, not properties`, "add an entry that selects properties");
  if (grant.covers === 0)
    return reason("nothing_selected", `what ${entry} selects is no property of the file`, "declare it in properties");
  return reason(
    "property_not_selected",
    `${entry} selects other properties`,
    "add the property to what the entry selects",
  );
}

interface About {
  readonly domain: string;
  readonly asked: string | undefined;
  readonly property: KnownProperty | undefined;
  readonly now: number;
}

function whyNot(
  {
    row,
    grants,
    similar,
  }: { row: PublisherRow | undefined; grants: readonly EntryGrant[]; similar: readonly string[] },
  { domain, asked, property, now }: About,
): WhyNot[] {
  if (row === undefined)
    return [reason("publisher_unknown", `nothing is known of ${domain}`, `look it up, so that its file is fetched`)];
  const reasons = grants.map((grant) => againstGrant(grant, domain, now));
  if (grants.every(({ counts }) => !counts)) {
    if (row.valid !== 1 && !grants.some(({ source }) => source === "aao_hosted"))
      reasons.unshift(
        reason(
          "no_valid_file",
          `${domain} has no valid file`,
          `serve one at ${expectedUrl(domain)}; /check says what is wrong`,
        ),
      );
    else if (!grants.some(({ source }) => source !== "agent_claim")) {
      const others = similar.length === 0 ? "" : `; it names ${similar.join(", ")}, which is another agent`;
      reasons.unshift(
        reason("agent_not_named", `the file does not name the agent${others}`, "name it by this very URL"),
      );
    }
  }
  if (asked !== undefined && property === undefined)
    reasons.unshift(
      reason("property_unknown", `${domain} declares no property ${asked.slice(0, 200)}`, "declare it in properties"),
    );
  const seen = new Set<string>();
  return reasons.filter(({ code, message }) => !seen.has(code + message) && seen.add(code + message));
}

/** Agents of the same host that the file names: a URL that was written otherwise is the most common reason. */
function* similarAgents(q: Query, publisher: number, agentUrl: string, now: number): Coroutine<string[]> {
  const { hostname } = new URL(agentUrl);
  const own = yield* edgeFactsOf(q, publisher, now);
  return own
    .filter(({ url }) => new URL(url).hostname === hostname)
    .map(({ url }) => url)
    .slice(0, 5);
}

/** Of what was asked, the property that counts; the first of several. */
function* propertyNamed(q: Query, row: PublisherRow, name: string): Coroutine<KnownProperty | undefined> {
  const found = (yield* propertiesNamed(q, row.id, name)).map(knownProperty);
  return counting(found, row.valid === 1)[0];
}

/** What is said of an agent: by the publisher, and the first that others say. */
function* edgesToTell(q: Query, agent: number, publisher: number): Coroutine<EdgeRow[]> {
  const own = yield* edgesBetween(q, agent, [publisher]);
  return [...own, ...(yield* claimsBetween(q, agent, publisher, CLAIMS_TOLD))];
}

/** @see PagedData.explain */
export function* explain(
  q: Query,
  { domain, agentUrl, asked, now }: { domain: string; agentUrl: string; asked: string | undefined; now: number },
): Coroutine<Explanation> {
  const [row] = yield* publishersByDomain(q, [domain]);
  const [agent] = yield* agentsByUrl(q, [agentUrl]);
  const edges = row === undefined || agent === undefined ? [] : yield* edgesToTell(q, agent.id, row.id);
  const property = row === undefined || asked === undefined ? undefined : yield* propertyNamed(q, row, asked);
  const about = { now, valid: row?.valid === 1, property };
  const grants = edges.flatMap((edge) => grantsOf(edge, about)).sort((a, b) => Number(lets(b)) - Number(lets(a)));
  const file = where(row, domain);
  const may = grants.some(lets) && (asked === undefined || property !== undefined);
  const similar = row === undefined || may ? [] : yield* similarAgents(q, row.id, agentUrl, now);
  const change = row === undefined || agent === undefined ? undefined : yield* pairChange(q, row.id, agent.id);
  return {
    publisher_domain: domain,
    agent_url: agentUrl,
    asked_property: asked ?? null,
    property: property === undefined ? null : toldProperty(property),
    may_sell: may,
    file,
    since: change === undefined ? null : iso(change.at),
    path: grants[0] === undefined ? [] : pathOf(domain, agentUrl, file, grants[0]),
    grants,
    why_not: may ? [] : whyNot({ row, grants, similar }, { domain, asked, property, now }),
  };
}
