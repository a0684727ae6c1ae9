/** A registry's process for the faults run: asks for crawls and makes them, or imports a file, until it is killed. */
import { readFileSync } from "node:fs";
import { createGuardedFetch, type Fetcher } from "../../runtime/net/index.js";
import { createCrawler } from "../../runtime/registry/crawl/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";

export interface Plan {
  readonly store: string;
  readonly name: string;
  readonly work:
    | { readonly kind: "crawl"; readonly origin: string; readonly domains: number; readonly asks: number }
    | { readonly kind: "import"; readonly file: string };
}

const plan = JSON.parse(process.argv[2]!) as Plan;
const { work } = plan;
/** Crawls asked for before the first is made. */
const AHEAD = 10;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const store = plan.store.startsWith("/")
  ? openSqliteStore({ path: plan.store, busyTimeoutMs: 20_000 })
  : await openPostgresStore({ url: plan.store, connections: 4 });

async function crawl(origin: string, domains: number, asks: number): Promise<void> {
  // The name tells the origins whom to kill.
  const guarded = createGuardedFetch({ allowHttp: true, allowLoopback: true, userAgent: plan.name });
  const fetch: Fetcher = (url, request) => guarded(url.replace("https://", `${origin}/`), request);
  const crawler = await createCrawler({
    store,
    data: createRegistryData(store),
    fetch,
    lookup: async () => [{ address: "93.184.215.14", family: 4 }],
    debounceMs: 0,
    perCallerHourly: 1_000_000,
    retryMs: [200, 400, 800, 1_600],
    // Nothing by itself: what is asked for is what is counted.
    recrawlMs: 86_400_000,
  });
  for (let index = 0; index < asks; index++) {
    const domain = `d${Math.floor(Math.random() * domains)}.example`;
    const answer = await crawler.request(domain, { requestedBy: plan.name, reason: "request" });
    // Said only when it is on disk: from here on it must not be lost.
    if (!("refused" in answer)) say(`asked ${answer.crawl_request_id} ${domain}`);
    // A few are asked for before anything runs: a kill soon after has something to lose.
    if (index === AHEAD) crawler.start();
    if (index >= AHEAD) await new Promise((resolve) => setTimeout(resolve, 15));
  }
  crawler.start();
}

if (work.kind === "crawl") await crawl(work.origin, work.domains, work.asks);
else {
  const lines = readFileSync(work.file, "utf8").trimEnd().split("\n");
  const result = await importRegistry(store, lines, {
    id: "faults",
    progress: ({ lines: taken }) => say(`taken ${taken}`),
  });
  say(`imported ${result.resumedAfter}`);
  await store.close();
}
