/** Operator lookup: a member and its agents, as far as the caller may see them (docs/protocol/registry.md#operator-lookup). */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { publishersNamingAgent, type ReadEdgeRow } from "../store/registry-agent-publishers.js";
import type { MemberRow } from "../store/registry-agents.js";
import { agentsByUrl } from "../store/registry-agents.js";
import { coverage } from "./coverage.js";
import { assemble } from "./members.js";
import { verifiedOwner } from "./publisher.js";
import type { Member, MemberAgent, OperatorLookup, OperatorScope, OperatorViewer, Visibility } from "./types.js";

/** Most agents one answer has. */
const OPERATOR_LIMIT_AGENTS = 20;
/** Most publishers listed of one agent; the list of an agent's publishers has them all. */
const OPERATOR_LIMIT_PUBLISHERS = 1000;

/** What people read; a tier without a label is shown as it is. */
const tierLabels: Readonly<Record<string, string>> = {
  individual_professional: "Professional",
  company_standard: "Builder",
  company_icl: "Partner",
  company_leader: "Leader",
};

/** The levels a caller sees under a scope: it narrows, and never widens. */
function visibleLevels(
  viewer: { readonly seesMembersOnly: boolean; readonly owns: boolean },
  scope: OperatorScope,
): ReadonlySet<Visibility> {
  const may = new Set<Visibility>([
    "public",
    ...(viewer.seesMembersOnly ? (["members_only"] as const) : []),
    ...(viewer.owns ? (["private"] as const) : []),
  ]);
  const asked: Record<OperatorScope, readonly Visibility[]> = {
    all: ["public", "members_only", "private"],
    public: ["public"],
    member: ["public", "members_only"],
    private: ["private"],
  };
  return new Set(asked[scope].filter((level) => may.has(level)));
}

/** A domain and its parents, longest first, down to two labels. */
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return Array.from({ length: labels.length - 1 }, (_, at) => labels.slice(at).join("."));
}

export interface FoundOperator {
  readonly member: Member;
  readonly agents: (agent: MemberAgent) => readonly ReadEdgeRow[];
}

/** The member that owns a domain or the nearest parent of it, with what publishers say of its agents. */
export function* findOperator(q: Query, domain: string): Coroutine<FoundOperator | undefined> {
  const row: MemberRow | undefined = yield* verifiedOwner(q, withParents(domain));
  if (row === undefined) return undefined;
  const [member] = yield* assemble(q, [row]);
  const edges = new Map<string, readonly ReadEdgeRow[]>();
  for (const { id, url } of yield* agentsByUrl(
    q,
    member!.agents.map((agent) => agent.url),
  )) {
    const request = { agent: id, domain: "", after: "", limit: OPERATOR_LIMIT_PUBLISHERS, source: null };
    edges.set(url, yield* publishersNamingAgent(q, request));
  }
  return { member: member!, agents: ({ url }) => edges.get(url) ?? [] };
}

export async function operatorLookup(
  domain: string,
  found: FoundOperator | undefined,
  given: { readonly viewer: OperatorViewer; readonly scope: OperatorScope; readonly now: number },
): Promise<OperatorLookup> {
  if (found === undefined) return { domain, member: null, agents: [] };
  const { member } = found;
  const { viewer, scope, now } = given;
  const owns = viewer.owns(member);
  const levels = visibleLevels({ seesMembersOnly: viewer.seesMembersOnly, owns }, scope);
  const tiered = member.isPublic && member.tier !== null && ((await viewer.tierLive?.(member)) ?? true);
  return {
    domain,
    member: {
      slug: member.slug,
      display_name: member.displayName,
      ...(member.isPublic && { is_founding_member: member.founding }),
      ...(tiered && { membership_tier: member.tier!, membership_tier_label: tierLabels[member.tier!] ?? member.tier! }),
    },
    agents: member.agents
      .filter(({ visibility }) => levels.has(visibility))
      .slice(0, OPERATOR_LIMIT_AGENTS)
      .map((agent) => ({
        url: agent.url,
        name: agent.name ?? (member.displayName || domain),
        type: agent.type,
        authorized_by: found
          .agents(agent)
          .filter((edge) => coverage(edge, now) !== undefined)
          .map((edge) => ({
            publisher_domain: edge.domain,
            ...(edge.authorized_for !== null && { authorized_for: edge.authorized_for }),
            source: edge.source,
          })),
      })),
  };
}
