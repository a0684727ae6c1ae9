/** What those pay who ask again, keep a copy, or ask for many at once: over HTTP, of the inventory as it lies there. */
import { createRegistryData } from "../../runtime/registry/data.js";
import type { CrawlResult, FeedPage, PublisherLookup } from "../../runtime/registry/types.js";
import { openStore } from "../../runtime/store/index.js";
import { numbers } from "../../test/support/random.js";
import { type InventorySize, publisherDomainAt } from "./inventory.js";
import { median } from "./measure.js";
import { closedLoop } from "./open-loop.js";
import type { Served } from "./registry-processes.js";
import type { Row } from "./row.js";

/** Callers at a time, and what they ask in a round. */
const CALLERS = 8;
const ROUND_REQUESTS = 2_000;
const ROUNDS = 3;
const LOOKUPS = 500;
const FEED_PAGE = 10_000;
const MILLION = 1_000_000;
const CHANGES = 20;
const BULK_DOMAINS = 10_000;
const BULK_REQUEST = 100;

const someDomains = (size: InventorySize, count: number): string[] => {
  const random = numbers(17);
  return Array.from({ length: count }, () => publisherDomainAt(Math.floor(random() * size.publishers)));
};

/** A lookup's 304 against its 200, by the processor time that the server takes for each. */
async function revalidation(engine: string, server: Served, size: InventorySize): Promise<Row> {
  const paths = someDomains(size, LOOKUPS).map((domain) => `/api/registry/publisher?domain=${domain}`);
  const etags = new Map<string, string>();
  for (const path of paths) etags.set(path, String((await server.ask(path)).headers.etag));
  const pathAt = (n: number): string => paths[n % paths.length]!;
  const fresh = (n: number) => server.ask(pathAt(n));
  const again = async (n: number): Promise<void> => {
    const path = pathAt(n);
    const { status } = await server.ask(path, { "if-none-match": etags.get(path)! });
    if (status !== 304) throw new Error(`${path}: ${status}, not 304`);
  };
  const cost = async (ask: (n: number) => Promise<unknown>): Promise<number> => {
    const before = server.cpuMs();
    await closedLoop(CALLERS, ROUND_REQUESTS, ask);
    return (server.cpuMs() - before) / ROUND_REQUESTS;
  };
  await cost(fresh);
  await cost(again);
  const [whole, none]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    whole.push(await cost(fresh));
    none.push(await cost(again));
  }
  return {
    name: `a 304 of a publisher lookup, ${engine}, of its 200`,
    value: median(none) / median(whole),
    unit: "x",
    target: { max: 0.2 },
    floor: { none: "two answers of one server" },
    note: `${median(none).toFixed(2)} ms of processor against ${median(whole).toFixed(2)} ms`,
  };
}

async function replay(engine: string, server: Served): Promise<Row> {
  const began = performance.now();
  let [events, cursor, more] = [0, "", true];
  while (more) {
    const page: FeedPage = await server.get(`/api/registry/feed?limit=${FEED_PAGE}&cursor=${cursor}`);
    events += page.events.length;
    more = page.has_more;
    cursor = page.cursor ?? "";
  }
  const seconds = (performance.now() - began) / 1_000;
  return {
    name: `feed: a million changes replayed, ${engine}`,
    value: (seconds / events) * MILLION,
    unit: "s",
    target: { max: 60 },
    floor: { none: "no other feed is at hand" },
    note: `${events.toLocaleString("en")} changes in ${seconds.toFixed(1)} s`,
  };
}

const changeOf = (n: number): CrawlResult => {
  const agent = { agentUrl: `https://told-${n}.example/mcp`, authorizedFor: "All", authorizationType: null } as const;
  const file = { agents: [agent], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  const provenance = {
    method: "direct",
    managerDomain: null,
    httpStatus: 200,
    bytes: 1_000,
    resolvedUrl: null,
  } as const;
  return {
    domain: `told-${n}.example`,
    crawledAt: Date.now(),
    adagents: { outcome: "valid", problems: [], file, ...provenance },
    brand: { outcome: "absent", name: null, properties: [], agents: [] },
  };
};

/** From the end of a commit of another process to what a subscriber is told. */
async function told(engine: string, server: Served, store: string): Promise<Row> {
  const opened = await openStore(store);
  const data = createRegistryData(opened);
  const { cursor } = await data.feedEnd();
  const seen = new Map<string, number>();
  const stop = await server.stream(`/api/registry/feed/stream?cursor=${cursor}`, (text) => {
    for (const [, name] of text.matchAll(/https:\/\/(told-\d+)\.example\/mcp/g))
      if (!seen.has(name!)) seen.set(name!, performance.now());
  });
  const waits: number[] = [];
  for (let n = 0; n < CHANGES; n++) {
    await data.applyCrawl(changeOf(n));
    const committed = performance.now();
    while (!seen.has(`told-${n}`) && performance.now() - committed < 10_000)
      await new Promise((resolve) => setTimeout(resolve, 2));
    waits.push((seen.get(`told-${n}`) ?? Infinity) - committed);
  }
  stop();
  await opened.close();
  return {
    name: `feed: a subscriber is told of a change, ${engine}, the slowest`,
    value: Math.max(0, ...waits) / 1_000,
    unit: "s",
    target: { max: 1 },
    floor: { none: "no other feed is at hand" },
    note: `median ${median(waits).toFixed(0)} ms of ${CHANGES}`,
  };
}

async function bulk(engine: string, server: Served, size: InventorySize): Promise<Row> {
  const domains = someDomains(size, BULK_DOMAINS);
  const began = performance.now();
  let known = 0;
  for (let at = 0; at < domains.length; at += BULK_REQUEST) {
    const body = JSON.stringify({ domains: domains.slice(at, at + BULK_REQUEST) });
    const { status, text } = await server.ask("/api/properties/resolve/bulk", {}, body);
    if (status !== 200) throw new Error(`bulk: ${status} ${text.slice(0, 200)}`);
    const { results } = JSON.parse(text) as { results: Record<string, Partial<PublisherLookup> | null> };
    known += Object.values(results).filter((one) => one !== null).length;
  }
  const seconds = (performance.now() - began) / 1_000;
  return {
    name: `10,000 domains resolved, ${engine}`,
    value: seconds,
    unit: "s",
    target: { max: 120 },
    floor: { none: "a bound on what one caller waits" },
    note: `${known.toLocaleString("en")} known, 100 a request, one request at a time; a key may make 300 a minute`,
  };
}

export async function followerRows(
  { engine, store }: { readonly engine: string; readonly store: string },
  server: Served,
  size: InventorySize,
): Promise<Row[]> {
  return [
    await revalidation(engine, server, size),
    await replay(engine, server),
    await bulk(engine, server, size),
    // Last: it changes what is there.
    await told(engine, server, store),
  ];
}
