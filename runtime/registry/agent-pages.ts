/** A publisher's agents in parts: a file may name thousands, and anybody may claim to be one of them. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { claimFactsAt, claimsAt } from "../store/registry-claims.js";
import { type EdgeFacts, type EdgeWithUrl, edgeFactsOf, ownEdgesOf } from "../store/registry-lookups.js";
import type { PublisherRow } from "../store/registry-publishers.js";
import { factsIn } from "./coverage.js";
import { byCodePoint } from "./model.js";
import type { PublisherLookup } from "./types.js";

/** Agents of an answer where nobody says how many. */
export const AGENTS_LIMIT = 1_000;
/** Claims told of one publisher: those made first, so that whoever claims later crowds nobody out. */
const CLAIMS_LIMIT = 1_000;

type Edge = Pick<EdgeWithUrl, "url" | "source">;

const byEdge = (a: Edge, b: Edge): number => byCodePoint(a.source, b.source) || byCodePoint(a.url, b.url);

/** What is said of a publisher: by itself, by a file hosted for it, and of what others claim as much as is told. */
export function* edgesAt(q: Query, publisher: number): Coroutine<EdgeWithUrl[]> {
  const own = yield* ownEdgesOf(q, [publisher]);
  return [...own, ...(yield* claimsAt(q, publisher, CLAIMS_LIMIT))].sort(byEdge);
}

/** The same as it is worked out: one per agent and source, in their order, of those that are in effect. */
export function* factsAt(
  q: Query,
  { id, valid }: Pick<PublisherRow, "id" | "valid">,
  now: number,
): Coroutine<EdgeFacts[]> {
  const own = (yield* edgeFactsOf(q, id, now)).map((edge) => factsIn(edge, now));
  const claims = yield* claimFactsAt(q, id, CLAIMS_LIMIT);
  return [...own, ...claims]
    .sort(byEdge)
    .filter((edge) => edge.stands === 1 && !(edge.source === "aao_hosted" && valid === 1))
    .filter((edge, at, all) => edge.url !== all[at - 1]?.url || edge.source !== all[at - 1]?.source);
}

/** @returns undefined for a text that no answer gave */
export function readAgentsCursor(text: string): Edge | undefined {
  const found = /^(adagents_json|aao_hosted|agent_claim) (\S+)$/.exec(Buffer.from(text, "base64url").toString("utf8"));
  return found === null ? undefined : { source: found[1] as Edge["source"], url: found[2]! };
}

/**
 * The part of the agents that is asked for, and what is said of the others.
 * @param all in the order of their edges
 */
export function pagedAgents<T extends { readonly edge: Edge }>(
  all: readonly T[],
  after: Edge | undefined,
  limit: number,
): {
  readonly shown: readonly T[];
  /** Those before the page. */
  readonly before: number;
  readonly about: Partial<Pick<PublisherLookup, "agents_total" | "agents_cursor">>;
} {
  const first = after === undefined ? 0 : all.findIndex(({ edge }) => byEdge(edge, after) > 0);
  const before = first < 0 ? all.length : first;
  const shown = all.slice(before, before + limit);
  if (shown.length === all.length) return { shown, before, about: {} };
  const last = before + shown.length < all.length ? shown.at(-1)?.edge : undefined;
  const next = last === undefined ? null : Buffer.from(`${last.source} ${last.url}`).toString("base64url");
  return { shown, before, about: { agents_total: all.length, agents_cursor: next } };
}
