/** From a lookup of an unseen domain to what its origin says, and crawls that are asked for. */

import { suite } from "uvu";
import * as assert from "uvu/assert";
import { commandCrawler, crawlNow } from "../../cli/registry-crawl.js";
import type { Fetcher } from "../../runtime/net/index.js";
import { keepAddress } from "../../runtime/registry/address.js";
import { createCrawler } from "../../runtime/registry/crawl/index.js";
import { until } from "../support/until.js";
import { DOMAIN, lookup, openCrawling, origins, pages, publisher } from "./server-crawl-fixture.js";
import { bearer, type Setup } from "./server-fixture.js";
import { SELLER } from "./server-world.js";

const crawl = suite("crawls over HTTP");

const order = ({ registry }: Setup, token: string, domain: string) =>
  registry.app.inject({
    method: "POST",
    url: "/api/registry/crawl-request",
    headers: { ...bearer(token), "content-type": "application/json" },
    payload: JSON.stringify({ domain }),
  });

crawl("a lookup of an unseen domain starts one crawl, says so, and soon has what was found", async () => {
  const { setup } = await openCrawling();
  try {
    const first = await publisher(setup);
    assert.is(first.auto_crawl_triggered, true);
    assert.equal([first.files.adagents_json.status, first.files.brand_json.status], ["checking", "checking"]);
    const second = await publisher(setup);
    assert.is(second.auto_crawl_triggered, undefined, "one crawl waits already");
    assert.is(second.files.adagents_json.status, "checking");
    const shown = await setup.registry.app.inject(`/publisher?domain=${DOMAIN}`);
    assert.is(shown.headers.refresh, "4");
    assert.match(shown.body, "It is being fetched now");

    await setup.registry.listen({ port: 0 });
    await until(async () => (await publisher(setup)).adagents_valid === true);
    const found = await publisher(setup);
    assert.equal([found.files.adagents_json.status, found.discovery_method], ["valid", "direct"]);
    assert.equal(
      found.authorized_agents.map(({ url }: { url: string }) => url),
      [SELLER],
    );
    assert.is(found.properties[0].id, "site");
    const { body } = await setup.registry.app.inject("/metrics");
    assert.match(body, /registry_auto_crawls_total\S* 1/);
  } finally {
    await setup.close();
  }
});

crawl("a crawl that is asked for can be followed to its end", async () => {
  const { setup, token } = await openCrawling();
  try {
    const asked = await order(setup, token, `https://${DOMAIN}/`);
    assert.is(asked.statusCode, 202, asked.body);
    const again = await order(setup, token, DOMAIN);
    assert.equal(
      [again.statusCode, again.json().crawl_request_id],
      [202, asked.json().crawl_request_id],
      "one at a time",
    );
    const place = String(asked.headers.location);
    const read = async () => (await setup.registry.app.inject({ url: place, headers: bearer(token) })).json();
    assert.is((await read()).status, "queued");
    await setup.registry.listen({ port: 0 });
    await until(async () => (await read()).status === "completed");
    const soon = await order(setup, token, DOMAIN);
    assert.equal([soon.statusCode, soon.json().code], [429, "debounced"]);
    assert.is(Number(soon.headers["retry-after"]), soon.json().retry_after);
    const unknown = "/api/registry/crawl-request/0b8f2b1e-9d0e-4d35-9c1b-0f6b3a7d2c10";
    assert.is((await setup.registry.app.inject({ url: unknown, headers: bearer(token) })).statusCode, 404);
  } finally {
    await setup.close();
  }
});

crawl("what cannot be crawled is refused with its reason", async () => {
  const { setup, token } = await openCrawling({
    limits: { crawl: 3 },
    crawl: { fetch: origins({}), lookup, capacity: 2 },
  });
  try {
    const unsafe = await order(setup, token, "internal.news-host.com");
    assert.equal([unsafe.statusCode, unsafe.json().code], [400, "unsafe"], unsafe.body);
    assert.equal((await publisher(setup, "internal.news-host.com")).auto_crawl_triggered, undefined);
    assert.is((await order(setup, token, "one-of-them.com")).statusCode, 202);
    assert.is((await order(setup, token, "two-of-them.com")).statusCode, 202);
    const over = await order(setup, token, "three-of-them.com");
    assert.equal([over.statusCode, over.json().error], [429, "Too many requests"], "the route's own limit");
    const { id } = await setup.accounts.addOrganization({ name: "P" });
    const other = (await setup.accounts.addKey(id, "k")).key;
    const full = await order(setup, other, "three-of-them.com");
    assert.equal([full.statusCode, full.json().code, full.headers["retry-after"]], [503, "queue_full", "60"]);
  } finally {
    await setup.close();
  }
});

crawl("by hand: what was found is printed, and what failed ends the command with a status", async () => {
  const { setup } = await openCrawling({ crawling: "off" });
  const { data } = setup.registry;
  const fetch = origins({ ...pages, "https://broken-news.com/.well-known/adagents.json": '{"authorized_agents":7}' });
  const crawler = await createCrawler({ store: setup.store, data, fetch, lookup, debounceMs: 0 });
  try {
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    assert.is(await crawlNow({ crawler, data }, [DOMAIN], say), true);
    assert.equal(said, [`${DOMAIN}  completed  1 agent, 1 property`]);
    said.length = 0;
    assert.is(await crawlNow({ crawler, data }, ["broken-news.com"], say), false);
    assert.match(said[0]!, /^broken-news\.com {2}.*: .* 0 agents, 0 properties$/);
    const refused = await crawlNow({ crawler, data }, ["internal.news-host.com"], say).catch((error: Error) => error);
    assert.match((refused as Error).message, "has no public address");
  } finally {
    await crawler.stop();
    await setup.close();
  }
});

crawl("by hand: files that the registry hosts are known by the address that it is served at", async () => {
  const { setup } = await openCrawling({ crawling: "off" });
  const { store } = setup;
  await keepAddress(store.database, "https://registry.example");
  const place = "https://registry.example/publisher/hosted-news.com/.well-known/adagents.json";
  const content = { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  await setup.registry.data.putHostedFile("hosted-news.com", { file: {}, content });
  const pointer = JSON.stringify({ authoritative_location: place });
  const net = {
    fetch: origins({ ...pages, "https://hosted-news.com/.well-known/adagents.json": pointer }),
    lookup,
  };
  const { crawler, data } = await commandCrawler(store, { net });
  try {
    const checked = async () => await data.hostedFile("hosted-news.com");
    await crawlNow({ crawler, data }, [DOMAIN], () => undefined);
    await until(async () => typeof (await checked())?.originLastCheckedAt === "number", "its origin is asked");
    assert.type((await checked())?.originVerifiedAt, "number", "it points to the registry");
  } finally {
    await crawler.stop();
    await setup.close();
  }
});

crawl("without a crawler lookups answer, and requests are told", async () => {
  const { setup, token } = await openCrawling({ crawling: "off" });
  try {
    const found = await publisher(setup);
    assert.equal([found.auto_crawl_triggered, found.files.adagents_json.status], [undefined, "unknown"]);
    const asked = await order(setup, token, DOMAIN);
    assert.equal([asked.statusCode, asked.json().code], [503, "crawler_off"]);
  } finally {
    await setup.close();
  }
});

crawl("an instance that only takes requests leaves them to another", async () => {
  let own = 0;
  const counted: Fetcher = async (url) => {
    own += 1;
    return origins(pages)(url);
  };
  const { setup, token } = await openCrawling({ crawling: "queue", crawl: { fetch: counted, lookup } });
  const request = async (domain: string) => {
    const { crawl_request_id: id } = (await order(setup, token, domain)).json();
    const url = `/api/registry/crawl-request/${id}`;
    return async () => (await setup.registry.app.inject({ url, headers: bearer(token) })).json().status;
  };
  try {
    await setup.registry.listen({ port: 0 });
    const first = await request(DOMAIN);
    assert.is(await first(), "queued");
    const worker = await openCrawling({ store: setup.store });
    try {
      await worker.setup.registry.listen({ port: 0 });
      await until(async () => (await first()) === "completed");
      // It hears of its own requests first: were it to crawl, it would be the one for some of these.
      for (let n = 0; n < 10; n += 1) {
        const read = await request(`paper${n}.news-host.com`);
        await until(async () => ["completed", "failed", "retrying"].includes(await read()));
      }
      assert.is(own, 0);
    } finally {
      // Before the store, which is the other's.
      await worker.setup.close();
    }
  } finally {
    await setup.close();
  }
});

crawl("a stop waits for the index that is still read, so that nothing meets a closed store", async () => {
  const held = Promise.withResolvers<void>();
  const real = await openCrawling({ crawling: "off" });
  const { data } = real.setup.registry;
  const warm = async (): Promise<void> => {
    await held.promise;
    await data.warm();
  };
  const { setup } = await openCrawling({ store: real.setup.store, data: { ...data, warm } });
  await setup.registry.listen({ port: 0 });
  let stopped = false;
  const stop = setup.close().then(() => {
    stopped = true;
  });
  // Another with nothing to wait for, told later, has stopped by then.
  const other = await openCrawling();
  await other.setup.registry.listen({ port: 0 });
  await other.setup.close();
  assert.is(stopped, false);
  held.resolve();
  await stop;
  await real.setup.close();
  assert.equal(
    setup.logs.filter(({ level }) => (level as number) >= 40),
    [],
  );
});

crawl(
  "a publisher has its file looked at and waits for what becomes of it; only the owner's word ends what it said",
  async () => {
    const answers: Record<string, string> = { ...pages };
    const origin = { fetch: origins(answers), lookup, debounceMs: 0 };
    const { setup, token } = await openCrawling({ crawl: origin });
    const owner = await setup.accounts.addOrganization({ name: "Owner" });
    const { key } = await setup.accounts.addKey(owner.id, "k");
    const domains = [{ domain: DOMAIN, verified: true }];
    const member = { slug: "owner", organization: owner.id, displayName: "Owner", tier: null, founding: false };
    await setup.registry.data.putMember({ ...member, isPublic: true, domains, agents: [] });
    const url = `/api/registry/publisher/${DOMAIN}/adagents/revalidate`;
    const look = async (by: string) => {
      const answer = await setup.registry.app.inject({ method: "POST", url, headers: bearer(by) });
      assert.is(answer.statusCode, 200, answer.body);
      return answer.json();
    };
    const agents = async () => (await publisher(setup)).authorized_agents.length;
    try {
      assert.is((await setup.registry.app.inject({ method: "POST", url })).statusCode, 401);
      await setup.registry.listen({ port: 0 });
      const found = await look(token);
      assert.equal(
        [found.adagents_valid, found.discovery_method, found.status_code, found.authorized_agents_count, found.issues],
        [true, "direct", 200, 1, { errors: [], warnings: [] }],
      );
      delete answers[Object.keys(pages)[0]!];
      const gone = await look(token);
      assert.equal([gone.adagents_valid, gone.status_code, gone.issues.errors.length], [false, 404, 1]);
      assert.is(await agents(), 1, "a stranger's word ends nothing before its time");
      assert.is((await look(key)).adagents_valid, false);
      assert.is(await agents(), 0);
      const brand = { method: "POST", url: "/api/registry/brand-crawl-request", payload: { domain: DOMAIN } } as const;
      assert.is((await setup.registry.app.inject({ ...brand, headers: bearer(key) })).statusCode, 202);
    } finally {
      await setup.close();
    }
  },
);

crawl.run();
