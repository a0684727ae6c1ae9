/** Authorizations as the feed and the snapshot tell them. */
import { createHash } from "node:crypto";
import type { ToldRow } from "../../store/registry-told.js";
import type { FeedEvent, SnapshotRow } from "../follow-types.js";
import type { StoredEntry } from "../project.js";
import { activeEntries, typeOf } from "./changes.js";
import { eventId } from "./cursor.js";

/** Most values of a list in one event: whoever needs more looks the publisher up. */
const MAX_VALUES = 1_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Of several entries of one type all lists together; a limit that one of them lacks is none of the pair's. */
function merged(
  entries: readonly StoredEntry[],
  name: "propertyIds" | "propertyTags" | "countries" | "placementIds" | "placementTags" | "signalIds" | "signalTags",
): string[] | undefined {
  const limits = name === "countries" || name === "placementIds" || name === "placementTags";
  if (limits && entries.some((entry) => (entry[name] ?? []).length === 0)) return undefined;
  const all = [...new Set(entries.flatMap((entry) => entry[name] ?? []))];
  return all.length === 0 ? undefined : all.slice(0, MAX_VALUES);
}

/** The selectors of publisher_properties in the protocol's own form. */
function selectorsOf(domain: string, entries: readonly StoredEntry[]): object[] {
  const all = entries.flatMap(({ publisherProperties }) => publisherProperties ?? [{}]).slice(0, MAX_VALUES);
  return all.map(({ propertyIds, tags, propertyTypes }) => ({
    publisher_domain: domain,
    ...(propertyIds !== undefined
      ? { selection_type: "by_id", property_ids: propertyIds.slice(0, MAX_VALUES) }
      : tags !== undefined
        ? { selection_type: "by_tag", property_tags: tags.slice(0, MAX_VALUES) }
        : { selection_type: "all" }),
    ...(propertyTypes !== undefined && { property_types: propertyTypes }),
  }));
}

const lists = [
  ["property_ids", "propertyIds"],
  ["property_tags", "propertyTags"],
  ["countries", "countries"],
  ["placement_ids", "placementIds"],
  ["placement_tags", "placementTags"],
  ["signal_ids", "signalIds"],
  ["signal_tags", "signalTags"],
] as const;

function grantOf(row: ToldRow, type: string, entries: readonly StoredEntry[]): Record<string, unknown> {
  const [first] = entries;
  const from = entries.map(({ effectiveFrom }) => effectiveFrom ?? null);
  const until = entries.map(({ effectiveUntil }) => effectiveUntil ?? null);
  const bounded = <T>(values: readonly (T | null)[]): values is readonly T[] => values.every((one) => one !== null);
  return {
    agent_url: row.url,
    publisher_domain: row.domain,
    // Clients of other registries read the domain under this name.
    domain: row.domain,
    authorization_type: type,
    authorized_for: entries.find(({ authorizedFor }) => authorizedFor != null)?.authorizedFor ?? null,
    evidence: row.source,
    ...Object.fromEntries(
      lists.flatMap(([wire, name]) => {
        const values = merged(entries, name);
        return values === undefined ? [] : [[wire, values]];
      }),
    ),
    ...(type === "publisher_properties" && { publisher_properties: selectorsOf(row.domain, entries) }),
    ...(entries.length === 1 && first?.delegationType != null && { delegation_type: first.delegationType }),
    ...(entries.length === 1 && first?.exclusive != null && { exclusive: first.exclusive }),
    ...(bounded(from) && { effective_from: iso(Math.min(...from)) }),
    ...(bounded(until) && { effective_until: iso(Math.max(...until)) }),
  };
}

/** What a change of a pair is told as: what ended, then all that stands, so that nobody takes the end of a part for that of all. */
export function pairEvents(row: ToldRow, now: number): FeedEvent[] {
  const pair = { agent_url: row.url, publisher_domain: row.domain, domain: row.domain };
  const active = row.entries === null ? [] : activeEntries(row.entries, now);
  const byType = Map.groupBy(active, typeOf);
  const place = { seq: row.seq, kind: 0, number: row.position } as const;
  const changes: [FeedEvent["event_type"], object][] = [];
  if (byType.size === 0) changes.push(["authorization.revoked", pair]);
  else
    for (const type of JSON.parse(row.types) as string[])
      if (!byType.has(type)) changes.push(["authorization.revoked", { ...pair, authorization_type: type }]);
  for (const [type, entries] of byType) changes.push(["authorization.granted", grantOf(row, type, entries)]);
  return changes.map(([event_type, payload], ordinal) => ({
    event_id: eventId(row.at, place, ordinal),
    event_type,
    entity_type: "authorization",
    entity_id: `${row.domain} ${row.url}`,
    payload: payload as Record<string, unknown>,
    actor: "registry",
    created_at: iso(row.at),
  }));
}

/** A publisher's file said something else than before. */
export const publisherEvent = (row: ToldRow): FeedEvent => ({
  event_id: eventId(row.at, { seq: row.seq, kind: 0, number: row.position }, 0),
  event_type: row.first === row.seq ? "publisher.adagents_discovered" : "publisher.adagents_changed",
  entity_type: "publisher",
  entity_id: row.domain,
  payload: { publisher_domain: row.domain, domain: row.domain, property_count: row.property_count },
  actor: "registry",
  created_at: iso(row.at),
});

/** A handle to join by, the same whenever it is made; it authorizes nothing. */
function handleOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Handle of a publisher's property. */
export const propertyHandle = (domain: string, key: string): string => handleOf(`${domain} ${key}`);

/** One row where the agent may sell everything, else one a property it may sell. */
export function* snapshotRows(row: ToldRow, now: number): Generator<SnapshotRow> {
  const active = row.entries === null ? [] : activeEntries(row.entries, now);
  if (active.length === 0 || row.source === null || row.url === null) return;
  const wide = active.some(({ covers }) => covers === null);
  const until = active.map(({ effectiveUntil }) => effectiveUntil ?? null);
  const common = {
    agent_url: row.url,
    agent_url_canonical: row.url,
    publisher_domain: row.domain,
    authorized_for: active.find(({ authorizedFor }) => authorizedFor != null)?.authorizedFor ?? null,
    evidence: row.source,
    disputed: false,
    created_by: null,
    expires_at: until.some((one) => one === null) ? null : iso(Math.max(...(until as number[]))),
    created_at: iso(row.at),
    updated_at: iso(row.at),
    signing_keys: active.flatMap(({ signingKeys }) => signingKeys ?? []),
    override_applied: false,
    override_reason: null,
  };
  const keys = wide ? [null] : new Set(active.flatMap(({ covers }) => covers ?? []));
  for (const key of keys) {
    yield {
      id: handleOf(`${row.domain} ${row.url} ${key ?? ""}`),
      ...common,
      signing_keys: common.signing_keys.length === 0 ? null : (common.signing_keys as Record<string, never>[]),
      property_rid: key === null ? null : propertyHandle(row.domain, key),
      property_id_slug: key?.startsWith("#") ? key.slice(1) : null,
    };
  }
}
