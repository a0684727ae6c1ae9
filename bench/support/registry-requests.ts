/** What the registry's bench asks for, and at what rate. */
import type { SearchFilters } from "../../runtime/registry/types.js";
import { openLoop } from "./open-loop.js";

/** Requests a second. */
export const RATE = 200;
const REQUESTS = 2_000;
const WARM_UP = 200;
export const PAGE = 50;

/** What is asked, by how much of the agents it matches. */
export const classes: readonly (readonly [name: string, filters: SearchFilters])[] = [
  ["0.01 % of agents", { format_kinds: ["rare"] }],
  ["1 % of agents", { format_kinds: ["seldom"] }],
  ["30 % of agents", { format_kinds: ["common"] }],
  [
    "a rare conjunction",
    { format_kinds: ["common"], markets: ["TR"], tags: ["tag_3_1", "tag_4_2"], delivery_types: ["guaranteed"] },
  ],
  ["no filter", {}],
];

export function searchPath(filters: SearchFilters, cursor?: string | null): string {
  const lists = Object.entries(filters).map(([name, values]) => `${name}=${(values as string[]).join(",")}`);
  return `/api/registry/agents/search?${[...lists, `limit=${PAGE}`, ...(cursor ? [`cursor=${cursor}`] : [])].join("&")}`;
}

/** Percentiles at the fixed rate, after some requests that do not count. */
export async function atRate(ask: (n: number) => Promise<unknown>) {
  await openLoop(RATE, WARM_UP, ask);
  return openLoop(RATE, REQUESTS, ask);
}
