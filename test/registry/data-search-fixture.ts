/** Agents to be searched for, and their pages. */

import type { Test } from "uvu";
import * as assert from "uvu/assert";
import type { AgentProfile, MemberAgent, RegistryData, SearchFilters } from "../../runtime/registry/types.js";
import { crawl, type Engine, entry, member, property } from "./data-fixture.js";
import type { opener, SearchKind } from "./search-parts.js";

export const urlOf = (name: string | number): string => `https://agent-${name}.example/mcp`;

/** One publisher of the agent's own, with so many properties. */
export const inventory = (name: string | number, count: number, more: Parameters<typeof entry>[1] = {}) =>
  crawl(`p${name}.example`, {
    properties: Array.from({ length: count }, (_, at) => property(`p${at}`, { tags: ["all", `t${count % 3}`] })),
    agents: [entry(urlOf(name), more)],
  });

export async function pageOf(data: RegistryData, filters: SearchFilters, limit: number, cursor?: string | null) {
  const page = await data.search(filters, { limit, ...(cursor != null && { cursor }) });
  assert.ok(page.ok, "the cursor is good");
  return page.value;
}

export async function everything(data: RegistryData, filters: SearchFilters, limit: number): Promise<AgentProfile[]> {
  const all: AgentProfile[] = [];
  let cursor: string | null = null;
  do {
    const page = await pageOf(data, filters, limit, cursor);
    all.push(...page.results);
    assert.is(page.has_more, page.cursor !== null);
    cursor = page.cursor;
  } while (cursor !== null);
  return all;
}

export const names = (profiles: readonly AgentProfile[]): string[] =>
  profiles.map(({ agent_url }) => agent_url.slice("https://agent-".length, -".example/mcp".length));

export const register = (data: RegistryData, agents: readonly MemberAgent[]): Promise<void> =>
  data.putMember(member("all", { agents }));

export interface Searched {
  readonly engine: Engine;
  readonly search: SearchKind;
  readonly opened: ReturnType<typeof opener>;
}

export type Case = Test<{ data: RegistryData; clock: { at: number } }>;
