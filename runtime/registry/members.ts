/** Members of the registry: who owns which domains, and registered which agents. */

import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { AdbindError } from "../errors.js";
import {
  type AgentRow,
  agentsByUrl,
  agentsOfMembers,
  domainsOfMembers,
  ensureAgents,
  lockAgents,
  lockMember,
  type MemberDomainRow,
  type MemberRow,
  memberByOrganization,
  putMemberRow,
  registerAgents,
  releaseAgents,
  removeMemberRow,
  replaceDomains,
} from "../store/registry-agents.js";
import { agentTypes, agentUrlOf, byCodePoint, publisherDomain } from "./model.js";
import type { AgentType, Member, MemberAgent, Visibility } from "./types.js";

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/;

const invalid = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("registry_data_invalid", what, { where, remedy });

const listOf = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));

/** A stored type that is none is `unknown` (docs/protocol/registry.md#operator-lookup). */
export const agentType = (text: string): AgentType => agentTypes.find((one) => one === text) ?? "unknown";

const memberAgent = (row: AgentRow): MemberAgent => ({
  url: row.url,
  name: row.name,
  type: agentType(row.type),
  visibility: (row.visibility ?? "private") as Visibility,
  deliveryTypes: listOf(row.delivery_types),
  formatKinds: listOf(row.format_kinds),
  hasTmp: row.has_tmp === 1,
});

const memberOfRows = (row: MemberRow, domains: readonly MemberDomainRow[], agents: readonly AgentRow[]): Member => ({
  slug: row.slug,
  organization: row.organization,
  displayName: row.display_name,
  tier: row.tier,
  founding: row.founding === 1,
  isPublic: row.is_public === 1,
  domains: domains.map(({ domain, verified }) => ({ domain, verified: verified === 1 })),
  agents: agents.map(memberAgent),
});

/** Members as others see them, in the order of their rows. */
export function* assemble(q: Query, rows: readonly MemberRow[]): Coroutine<Member[]> {
  const ids = rows.map(({ id }) => id);
  const domains = Map.groupBy(yield* domainsOfMembers(q, ids), ({ member }) => member);
  const agents = Map.groupBy(yield* agentsOfMembers(q, ids), ({ member }) => member!);
  return rows.map((row) => memberOfRows(row, domains.get(row.id) ?? [], agents.get(row.id) ?? []));
}

function registration(slug: string, agent: MemberAgent, member: number): Omit<AgentRow, "id"> {
  const url = agentUrlOf(agent.url);
  if (url === undefined) throw invalid("an agent's URL is no http or https URL", `${slug}: ${agent.url}`, "correct it");
  const list = (values: readonly string[]): string => JSON.stringify([...new Set(values)].sort(byCodePoint));
  return {
    url,
    member,
    name: agent.name,
    type: agent.type,
    visibility: agent.visibility,
    delivery_types: list(agent.deliveryTypes),
    format_kinds: list(agent.formatKinds),
    has_tmp: agent.hasTmp ? 1 : 0,
  };
}

/** @param others agents that the caller changes too: all are held at once, so that no two transactions wait for each other */
function* register(
  q: Query,
  slug: string,
  rows: readonly Omit<AgentRow, "id">[],
  others: readonly number[] = [],
): Coroutine<number[]> {
  const urls = rows.map(({ url }) => url);
  for (const { url, member } of yield* agentsByUrl(q, urls)) {
    const owner = rows.find((row) => row.url === url)!.member;
    if (member !== null && member !== owner)
      throw invalid("an agent belongs to another member", `${slug}: ${url}`, "have that member remove it first");
  }
  const ids = [...(yield* ensureAgents(q, [...urls].sort(byCodePoint))).values()];
  yield* lockAgents(q, [...ids, ...others]);
  yield* registerAgents(q, rows);
  return ids;
}

/**
 * Adds a member or replaces the one of its slug.
 * @returns agents whose profiles are to be computed again
 * @throws AdbindError `registry_data_invalid`
 */
export function* putMember(q: Query, member: Member): Coroutine<number[]> {
  const { slug } = member;
  if (!slugForm.test(slug))
    throw invalid("a slug holds lower-case letters, digits and hyphens", JSON.stringify(slug), "choose another");
  const domains = member.domains.map(({ domain, verified }) => {
    const known = publisherDomain(domain);
    if (known === undefined) throw invalid("a member's domain is no domain", `${slug}: ${domain}`, "correct it");
    return { domain: known, verified: verified ? 1 : 0 };
  });
  if (member.organization !== null) {
    const holder = yield* memberByOrganization(q, member.organization);
    if (holder !== undefined && holder.slug !== slug)
      throw invalid(
        "an organization has one member profile",
        `${slug}: ${member.organization}`,
        `change ${holder.slug}`,
      );
  }
  const id = yield* putMemberRow(q, {
    slug,
    organization: member.organization,
    display_name: member.displayName,
    tier: member.tier,
    founding: member.founding ? 1 : 0,
    is_public: member.isPublic ? 1 : 0,
  });
  const distinct = new Map(domains.map((one) => [one.domain, one]));
  yield* replaceDomains(
    q,
    id,
    [...distinct.values()].map((one) => ({ ...one, member: id })),
  );
  const byUrl = new Map(member.agents.map((agent) => registration(slug, agent, id)).map((row) => [row.url, row]));
  const dropped = (yield* agentsOfMembers(q, [id])).filter(({ url }) => !byUrl.has(url)).map((row) => row.id);
  const registered = yield* register(q, slug, [...byUrl.values()], dropped);
  if (dropped.length > 0) yield* releaseAgents(q, dropped);
  return [...dropped, ...registered];
}

/** Removes a member; its agents become nobody's. Undefined when there is none. */
export function* removeMember(q: Query, slug: string): Coroutine<number[] | undefined> {
  const row = yield* lockMember(q, slug);
  if (row === undefined) return undefined;
  const agents = (yield* agentsOfMembers(q, [row.id])).map(({ id }) => id);
  yield* lockAgents(q, agents);
  yield* releaseAgents(q, agents);
  yield* removeMemberRow(q, row.id);
  return agents;
}

/** Registers or changes one agent; the others of the member stay. */
export function* registerAgent(q: Query, slug: string, agent: MemberAgent): Coroutine<number[]> {
  const row = yield* lockMember(q, slug);
  if (row === undefined) throw invalid("there is no such member", slug, "add the member first");
  return yield* register(q, slug, [registration(slug, agent, row.id)]);
}
