/** Kills registries in the middle of crawls, then looks whether anything that was acknowledged is gone. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Children, type FaultsLedger, inFolder, judgeCounts, pause } from "./registry-children.js";
import type { Engine, FaultsDatabase } from "./registry-database.js";
import { followFeed } from "./registry-feed.js";

const DOMAINS = 200;
const AGENTS = 3;
const PROPERTIES = 4;
/** Each process asks for so many before it only crawls. */
const ASKS = 60;
const PROCESSES = 2;
/** Kills from one line on standard error to the next. */
const SAID_KILLS = 50;
/** Longest wait for what the kills left behind, in milliseconds: leases last up to 30 s. */
const DRAIN_MS = 120_000;

/** Origins of all domains: each answer is a new version of its file, and one in seven fails. */
class OriginServer {
  /** Last version given, by domain. */
  readonly versions = new Map<string, number>();
  onOpen: (child: string) => void = () => undefined;
  #answers = 0;
  readonly #server = createServer((request, response) => {
    const [, domain, ...rest] = request.url!.split("/");
    if (rest.join("/") !== ".well-known/adagents.json") return void response.writeHead(404).end();
    this.onOpen(request.headers["user-agent"] ?? "");
    this.#answers += 1;
    if (this.#answers % 7 === 0) return void response.writeHead(503).end();
    const version = (this.versions.get(domain!) ?? 0) + 1;
    this.versions.set(domain!, version);
    response.end(JSON.stringify(fileOf(domain!, version)));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const properties = (domain: string, name: string): object[] =>
  Array.from({ length: PROPERTIES }, (_, index) => ({
    property_id: `p${index}`,
    property_type: "website",
    name,
    identifiers: [{ type: "domain", value: `s${index}.${domain}` }],
  }));

const fileOf = (domain: string, version: number): object => ({
  authorized_agents: Array.from({ length: AGENTS }, (_, index) => ({
    url: `https://agent${index}.example/`,
    authorized_for: `v${version}`,
    authorization_type: "property_ids",
    property_ids: ["p0", "p1"],
  })),
  properties: properties(domain, `v${version}`),
});

/** Crawls under kills: in flight, between the answer and the write, between the write and its settling. */
export function runCrawlFaults(engine: Engine, kills: number): Promise<FaultsLedger> {
  const started = performance.now();
  return inFolder(engine, async (db) => {
    const origins = new OriginServer();
    const origin = await origins.start();
    const told = new Map<string, string>();
    const feed = await followFeed(db);
    const children = new Children((line) => {
      const [, id, domain] = /^asked (\S+) (\S+)$/.exec(line) ?? [];
      if (id !== undefined) told.set(id, domain!);
    });
    const plan = (asks: number) =>
      ({ store: db.url, work: { kind: "crawl", origin, domains: DOMAINS, asks } }) as const;
    try {
      for (let index = 0; index < PROCESSES; index++) void children.spawn(plan(ASKS));
      await killWhileCrawling(kills, origins, children, (last) => void children.spawn(plan(last ? 0 : ASKS)));
      const left = await drained(db);
      await children.killAll();
      const faults = [...(await judgeCrawls(db, origins, told)), ...judgeFeed(await feed.ended(), origins)];
      if (left > 0) faults.unshift(`${left} requests did not end`);
      return { engine, kills, told: told.size, seconds: Math.round((performance.now() - started) / 1000), faults };
    } finally {
      await children.killAll();
      origins.stop();
    }
  });
}

async function killWhileCrawling(
  kills: number,
  origins: OriginServer,
  children: Children,
  spawnNext: (last: boolean) => void,
): Promise<void> {
  let done = 0;
  let armed = true;
  await new Promise<void>((resolve) => {
    origins.onOpen = (name) => {
      if (!armed || done >= kills) return;
      armed = false;
      // From at once, with the answer on its way, to well after it has been written.
      setTimeout(() => {
        armed = true;
        if (!children.kill(name)) return;
        done += 1;
        // A run of some minutes says that it goes on.
        if (done % SAID_KILLS === 0) console.error(`${done} of ${kills} killed`);
        spawnNext(done > kills - PROCESSES);
        armed = false;
        if (done >= kills) resolve();
        else setTimeout(() => (armed = true), 200 + Math.random() * 300);
      }, Math.random() * 40);
    };
  });
  origins.onOpen = () => undefined;
}

async function drained(db: FaultsDatabase): Promise<number> {
  const end = performance.now() + DRAIN_MS;
  const text = "select count(*) as n from adbind_crawl_requests where completed_at is null";
  for (;;) {
    const left = Number((await db.query<{ n: number }>(text))[0]!.n);
    if (left === 0 || performance.now() > end) return left;
    await pause(250);
  }
}

/** What a reader of the feed has copied is what each file said last. */
function judgeFeed(copy: ReadonlyMap<string, string>, { versions }: OriginServer): string[] {
  const faults: string[] = [];
  for (const [domain, version] of versions)
    for (let index = 0; index < AGENTS; index++) {
      const has = copy.get(`${domain} https://agent${index}.example/`);
      if (has !== `v${version}`) faults.push(`the feed has ${has} of ${domain}, and v${version} was fetched`);
    }
  const most = versions.size * AGENTS;
  if (copy.size !== most) faults.push(`the feed has ${copy.size} authorizations, and there are ${most}`);
  return faults.slice(0, 20);
}

interface RequestRow {
  readonly id: string;
  readonly domain: string;
  readonly status: string;
  readonly error: string | null;
  readonly requested_at: string | number;
  readonly completed_at: string | number | null;
}

/** It waited for another attempt when somebody else asked for the same domain: whose request took its place, and was answered. */
const gaveWay = ({ domain, completed_at: end }: RequestRow, made: readonly RequestRow[]): boolean =>
  made.some(
    (one) => one.domain === domain && one.status === "completed" && Number(one.requested_at) >= Number(end ?? Infinity),
  );

async function judgeCrawls(
  db: FaultsDatabase,
  origins: OriginServer,
  told: ReadonlyMap<string, string>,
): Promise<string[]> {
  const faults: string[] = [];
  const note = (text: string): void => void (faults.length < 20 && faults.push(text));
  const made = await db.query<RequestRow>(
    "select id, domain, status, error, requested_at, completed_at from adbind_crawl_requests",
  );
  const requests = new Map(made.map((row) => [row.id, row]));
  for (const [id, domain] of told) {
    const row = requests.get(id);
    if (row === undefined) note(`${id} of ${domain} was acknowledged and is not there`);
    else if (row.status !== "completed" && !gaveWay(row, made))
      note(`${id} of ${domain} is ${row.status}: ${row.error}`);
  }
  const rows = await db.query<{ domain: string; names: string; n: number; versions: number }>(
    "select p.domain, min(r.name) as names, count(*) as n, count(distinct r.name) as versions " +
      "from adbind_registry_publishers p join adbind_registry_properties r on r.publisher = p.id group by p.domain",
  );
  const kept = new Map(rows.map((row) => [row.domain, row]));
  for (const [domain, version] of origins.versions) {
    const row = kept.get(domain);
    // Whatever was fetched last was kept, or its crawl was made again and fetched a later one.
    if (row === undefined) note(`${domain} was fetched and nothing of it is kept`);
    else if (Number(row.versions) !== 1 || Number(row.n) !== PROPERTIES) note(`${domain} is half written`);
    else if (row.names !== `v${version}`) note(`${domain} has ${row.names}, and v${version} was fetched`);
  }
  const claimed = await db.query<{ n: number }>(
    "select count(*) as n from adbind_crawl_domains where active is not null",
  );
  if (Number(claimed[0]!.n) !== 0) note(`${claimed[0]!.n} domains are taken for being crawled still`);
  const jobs = await db.query<{ n: number }>("select count(*) as n from adbind_jobs where topic = 'registry-crawl'");
  if (Number(jobs[0]!.n) !== 0) note(`${jobs[0]!.n} jobs are left`);
  await judgeCounts(db, note);
  return faults;
}
