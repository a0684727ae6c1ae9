/** What a crawler does with its queue, on either database, with the registry's real data. */

import * as assert from "uvu/assert";
import type { Lookup } from "../../runtime/net/index.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { beginAttempt, requestRow } from "../../runtime/store/registry-crawl.js";
import { until } from "../support/until.js";
import { agent, file, property, publicLookup } from "./crawl-fixture.js";
import { by, crawlCases, HOUR_MS, MINUTE_MS, queued, refusedOf, type Test, type World } from "./crawl-world.js";

/** @param open an opened store on an empty database */
export function crawlQueueCase(test: Test, name: string, open: () => Promise<SqliteStore | PostgresStore>): void {
  const cases: [string, (world: World) => Promise<void>][] = [
    ["a crawl that is asked for is made, seen, and not made again at once", asked],
    ["a domain has one crawl at a time, whoever asks and wherever", once],
    ["callers have an allowance, and the queue has a bound", bounded],
    ["an origin that fails is asked again, later and later, and what was known of it stays", retried],
    ["a file that stays no JSON is invalid in the end", malformed],
    ["a crawl that a stop breaks off is made by whoever starts next, and counts as never begun", brokenOff],
    ["a crawl that ends the process every time is given up", cutOff],
    ["a crawl that was cut off rests before it is taken up again, and nobody waits behind it", rests],
    ["lookups start crawls of public names only", auto],
    ["a stop waits for requests that nobody waits for any more", abandoned],
    ["what the store refuses is tried again", refusedByStore],
    ["a revocation is held when the file no longer says it", revoked],
    ["a manager's file is fetched once for its publishers, and anew for whoever asks", shared],
  ];
  crawlCases(test, name, open, cases);
}

async function asked({ data, origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const one = await crawler();
  const first = queued(await one.request("news.example", by("a")));
  assert.equal([first.status, first.attempts, first.started_at, first.error], ["queued", 0, null, null]);
  assert.is(await one.pending("news.example"), true);
  one.start();
  const done = await ended(one, first.crawl_request_id);
  assert.equal([done?.status, done?.attempts, done?.error], ["completed", 1, null]);
  const found = await data.lookupPublisher("news.example");
  assert.equal([found.adagents_valid, found.authorized_agents.length, found.properties.length], [true, 1, 1]);
  assert.is(await one.pending("news.example"), false);
  clock.at += MINUTE_MS;
  assert.equal(await one.request("news.example", by("b")), { refused: "debounced", retryAfterSeconds: 240 });
  clock.at += 4 * MINUTE_MS;
  const again = queued(await one.request("news.example", by("b")));
  assert.is.not(again.crawl_request_id, first.crawl_request_id);
  assert.is(await one.read("00000000-0000-4000-8000-000000000000"), undefined);
}

async function once({ origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const ids = new Set<string>();
  // The second time the domain has its row: that two make one keeps nobody apart any more.
  for (const round of [1, 2]) {
    const [one, two] = [await crawler(), await crawler()];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? one : two).request("news.example", by(`c${index}`))),
    );
    for (const answer of answers) ids.add(queued(answer).crawl_request_id);
    assert.is(ids.size, round);
    one.start();
    two.start();
    await ended(two, [...ids].at(-1)!);
    assert.is(origins.times("news.example/adagents.json"), round);
    await Promise.all([one.stop(), two.stop()]);
    clock.at += 5 * MINUTE_MS;
  }
}

async function bounded({ clock, crawler }: World): Promise<void> {
  const one = await crawler({ perCallerHourly: 3, capacity: 6 });
  const ask = (caller: string, index: number) => one.request(`d${index}.example`, by(caller));
  const answers = await Promise.all([1, 2, 3, 4, 5].map((index) => ask("a", index)));
  assert.is(answers.filter((answer) => refusedOf(answer) === "limited").length, 2);
  clock.at += MINUTE_MS;
  assert.equal(await ask("a", 9), { refused: "limited", retryAfterSeconds: 59 * 60 });
  // Lookups may fill half of the queue: three wait already.
  assert.is(await one.autoCrawl("auto.example"), false);
  for (const index of [10, 11, 12]) queued(await ask("b", index));
  assert.equal(await ask("c", 20), { refused: "queue_full", retryAfterSeconds: 60 });
  // What waits is answered all the same.
  assert.is(refusedOf(await ask("c", 10)), undefined);
  clock.at += HOUR_MS;
  assert.is(refusedOf(await ask("a", 9)), "queue_full");
}

async function retried({ data, origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const one = await crawler();
  one.start();
  await ended(one, queued(await one.request("news.example", by("a"))).crawl_request_id);
  clock.at += HOUR_MS;
  origins.answers.set("news.example/adagents.json", 503);
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  for (const [index, minutes] of [1, 5, 30, 120].entries()) {
    await until(async () => (await one.read(id))?.status === "retrying", `attempt ${index + 1}`);
    const record = await one.read(id);
    assert.equal([record?.attempts, record?.error], [index + 1, "the origin answered with status 503"]);
    assert.is(Date.parse(record!.next_attempt_at!), clock.at + minutes * MINUTE_MS);
    // Asking again meanwhile answers the one that waits.
    assert.is(queued(await one.request("news.example", by("b"))).crawl_request_id, id);
    clock.at += minutes * MINUTE_MS;
    await until(async () => (await one.read(id))!.attempts > index + 1, `attempt ${index + 2} begins`);
  }
  const failed = await ended(one, id);
  assert.equal([failed?.status, failed?.attempts, failed?.next_attempt_at], ["failed", 5, null]);
  const found = await data.lookupPublisher("news.example");
  assert.equal([found.adagents_valid, found.properties.length, found.hosting?.last_http_status], [true, 1, 503]);
}

async function malformed({ data, origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", "<html>");
  const one = await crawler({ retryMs: [1_000] });
  one.start();
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  await until(async () => (await one.read(id))?.status === "retrying", "the first attempt");
  assert.is((await data.lookupPublisher("news.example")).adagents_valid, null);
  clock.at += 1_000;
  assert.is((await ended(one, id))?.status, "failed");
  assert.is((await data.lookupPublisher("news.example")).adagents_valid, false);
}

async function brokenOff({ origins, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", () => new Promise(() => undefined));
  const one = await crawler();
  one.start();
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  await until(() => origins.asked.includes("news.example/adagents.json"), "the origin is asked");
  await one.stop();
  origins.answers.set("news.example/adagents.json", file());
  const two = await crawler();
  const waits = await two.read(id);
  assert.equal([waits?.status, waits?.attempts], ["queued", 0]);
  two.start();
  const done = await ended(two, id);
  assert.equal([done?.status, done?.attempts], ["completed", 1]);
}

async function cutOff({ store, clock, origins, crawler, ended }: World): Promise<void> {
  const one = await crawler();
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  const tables = store.database;
  const begin = () => tables.write((q) => beginAttempt(q, { id, attempt: 1, now: clock.at }, () => 0));
  for (let begun = 0; begun < 20; begun++) await begin();
  one.start();
  clock.at += 30_000;
  const record = await ended(one, id);
  assert.equal([record?.status, record?.error], ["failed", "the crawl was cut off again and again"]);
  assert.equal([record?.last_error_code, record?.max_attempts], ["cut_off", 5]);
  assert.equal(origins.asked, []);
}

async function rests({ store, clock, origins, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  origins.answers.set("late.example/adagents.json", file());
  const one = await crawler();
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  const begin = () => store.database.write((q) => beginAttempt(q, { id, attempt: 1, now: clock.at }, () => 0));
  for (let begun = 0; begun < 3; begun++) await begin();
  one.start();
  const { crawl_request_id: other } = queued(await one.request("late.example", by("a")));
  await ended(one, other);
  assert.not.ok(origins.asked.includes("news.example/adagents.json"), "others are not behind it");
  clock.at += 1_000;
  assert.is((await ended(one, id))?.status, "completed");
  assert.is((await store.database.query((q) => requestRow(q, id)))!.starts, 4, "resting counts for nothing");
}

async function auto({ data, origins, clock, crawler }: World): Promise<void> {
  const addresses: Record<string, string> = { "internal.example": "10.0.0.7", "mixed.example": "93.184.215.14" };
  const lookup: Lookup = async (domain) => {
    if (domain === "none.example") throw Object.assign(new Error(), { code: "ENOTFOUND" });
    if (domain === "down.example") throw Object.assign(new Error(), { code: "EAI_AGAIN" });
    const address = addresses[domain];
    if (address === undefined) return publicLookup();
    return [
      { address, family: 4 },
      { address: domain === "mixed.example" ? "192.168.0.1" : address, family: 4 },
    ];
  };
  const one = await crawler({ lookup });
  for (const domain of [
    "internal.example",
    "mixed.example",
    "none.example",
    "down.example",
    "printer.local",
    "a.internal",
  ])
    assert.is(await one.autoCrawl(domain), false, domain);
  for (const domain of ["internal.example", "mixed.example", "none.example", "printer.local"])
    assert.is(refusedOf(await one.request(domain, by("a"))), "unsafe", domain);
  // A resolver that is down says nothing against the name; who asks by name may.
  queued(await one.request("down.example", by("a")));

  assert.equal([await one.autoCrawl("news.example"), await one.autoCrawl("news.example")], [true, false]);
  one.start();
  await until(async () => !(await one.pending("news.example")), "the crawl ends");
  assert.is(await one.autoCrawl("news.example"), false, "debounced");
  clock.at += 5 * MINUTE_MS;
  assert.is(await one.autoCrawl("news.example"), true);
  await until(async () => !(await one.pending("news.example")), "the crawl ends");
  assert.is((await data.lookupPublisher("news.example")).adagents_valid, null);
  assert.is(origins.times("news.example/adagents.json"), 2);
}

async function abandoned({ crawler }: World): Promise<void> {
  const held = Promise.withResolvers<void>();
  const lookup: Lookup = async () => {
    await held.promise;
    return publicLookup();
  };
  const one = await crawler({ lookup });
  const answered: string[] = [];
  const asked = one.autoCrawl("news.example").then(() => answered.push("request"));
  const stop = one.stop().then(() => answered.push("stop"));
  // Another with nothing to wait for, told later, has stopped by then.
  await (await crawler({ lookup })).stop();
  held.resolve();
  await Promise.all([asked, stop]);
  assert.equal(answered, ["request", "stop"]);
}

async function refusedByStore({ data, origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  let faults = 1;
  const failing = {
    ...data,
    applyCrawl: async (result: Parameters<typeof data.applyCrawl>[0]) => {
      if (faults-- > 0) throw new Error("disk full");
      return data.applyCrawl(result);
    },
  };
  const one = await crawler({ data: failing });
  one.start();
  const { crawl_request_id: id } = queued(await one.request("news.example", by("a")));
  await until(async () => (await one.read(id))?.status === "retrying", "the first attempt");
  const record = await one.read(id);
  assert.equal([record?.error, record?.last_error_code], ["what was found could not be kept", "not_kept"]);
  assert.is(record?.last_attempted_at, record?.started_at);
  clock.at += MINUTE_MS;
  assert.is((await ended(one, id))?.status, "completed");
}

async function revoked({ data, origins, clock, crawler, ended }: World): Promise<void> {
  const named = {
    authorized_agents: [
      agent({
        authorization_type: "publisher_properties",
        publisher_properties: [{ publisher_domain: "news.example", selection_type: "all" }],
      }),
    ],
    properties: [property({ publisher_domain: "news.example" })],
  };
  const revocation = { publisher_domain: "news.example", revoked_at: "2026-03-01T00:00:00Z", reason: "other" };
  origins.answers.set("news.example/ads.txt", "managerdomain=manager.example");
  const one = await crawler();
  one.start();
  const agents = async (body: object) => {
    origins.answers.set("manager.example/adagents.json", body);
    const record = await ended(one, queued(await one.request("news.example", by("a"))).crawl_request_id);
    assert.equal([record?.status, record?.error], ["completed", null]);
    return (await data.lookupPublisher("news.example")).authorized_agents.length;
  };
  assert.is(await agents(named), 1);
  clock.at += HOUR_MS;
  assert.is(await agents({ ...named, revoked_publisher_domains: [revocation] }), 0);
  clock.at += HOUR_MS;
  assert.is(await agents(named), 0, "held");
  clock.at += 7 * 24 * HOUR_MS;
  assert.is(await agents(named), 1);
}

async function shared({ origins, crawler, ended }: World): Promise<void> {
  const children = ["one.example", "two.example"];
  for (const domain of children) origins.answers.set(`${domain}/ads.txt`, "managerdomain=manager.example");
  origins.answers.set("manager.example/adagents.json", file());
  const one = await crawler({ debounceMs: 0 });
  one.start();
  for (const domain of children) assert.is(await one.autoCrawl(domain), true);
  for (const domain of children) await until(async () => !(await one.pending(domain)), `${domain} is crawled`);
  assert.is(origins.times("manager.example/adagents.json"), 1);
  await ended(one, queued(await one.request("one.example", by("a"))).crawl_request_id);
  assert.is(origins.times("manager.example/adagents.json"), 2);
}
