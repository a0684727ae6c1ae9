/** Registries on one PostgreSQL whose machines' clocks are an hour apart. */
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createCrawler, createRegistryData } from "../../runtime/registry/index.js";
import { createRegistry } from "../../runtime/registry/server/app.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { publicLookup } from "./crawl-fixture.js";
import { BASE_URL } from "./server-fixture.js";

const HOUR = 3_600_000;
const postgres = await sharedPostgres();
const { now: system } = Date;
let url: string;
let closing: (() => Promise<unknown>)[];

/** What a process makes whose clock is off. @param ms by how much */
async function off<T>(
  ms: number,
  make: (store: Awaited<ReturnType<typeof openPostgresStore>>) => Promise<T>,
): Promise<T> {
  Date.now = () => system() + ms;
  const store = await openPostgresStore({ url, connections: 4 });
  closing.push(() => store.close());
  return make(store);
}

test.before.each(async () => {
  url = await postgres.database();
  closing = [];
});
test.after.each(async () => {
  Date.now = system;
  for (const close of closing.reverse()) await close();
});
test.after(() => postgres.stop());

test("a caller's limit counts what he has asked of every instance", async () => {
  const ask = async (ms: number) => {
    const registry = await off(ms, (store) =>
      createRegistry({
        ...{ store, baseUrl: BASE_URL, crawling: "off", embeddedIssuer: false },
        ...{ limits: { publisher: 3 }, logger: pino({ enabled: false }) },
      }),
    );
    closing.push(() => registry.stop());
    return async () =>
      (await registry.app.inject({ url: "/api/registry/publisher?domain=a.example", remoteAddress: "203.0.113.7" }))
        .statusCode;
  };
  const [one, other] = [await ask(0), await ask(HOUR)];
  const answers = [await one(), await other(), await one(), await other(), await one()];
  assert.equal(
    answers.map((status) => status === 429),
    [false, false, false, true, true],
    String(answers),
  );
});

test("what is crawled again is due by the server's clock, whoever's turn it was", async () => {
  const lines = await off(HOUR, async (store) => {
    const data = createRegistryData(store);
    const crawler = await createCrawler({
      store,
      data,
      lookup: publicLookup,
      fetch: () => Promise.reject(new Error("away")),
    });
    closing.push(() => crawler.stop());
    await crawler.request("a.example", { requestedBy: "x", reason: "asked" });
    return store.database.query((q) => q.rows<{ at: number }>("select asked_at as at from adbind_crawl_domains"));
  });
  assert.is(lines.length, 1);
  for (const { at } of lines) assert.ok(Math.abs(at - system()) < HOUR / 4, String(at));
});

test.run();
