/** Files of managers are fetched once for many of their publishers, and speak for each of them apart. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Fetcher } from "../../runtime/net/index.js";
import { crawlDomain } from "../../runtime/registry/crawl/crawl.js";
import { notFetched } from "../../runtime/registry/crawl/document.js";
import { inspector } from "../../runtime/registry/crawl/inspect.js";
import { sharedFiles } from "../../runtime/registry/crawl/shared-files.js";
import { agent, context, file, property, publicLookup } from "./crawl-fixture.js";
import { robotsRules } from "./crawl-manners.case.js";
import { MINUTE_MS, Origins } from "./crawl-world.js";

const MANAGER = "manager.example/adagents.json";

function world() {
  const clock = { at: Date.UTC(2026, 2, 2) };
  const origins = new Origins();
  const shared = sharedFiles(() => clock.at);
  const crawl = async (domain: string, more: { fresh?: boolean; fetch?: Fetcher } = {}) =>
    crawlDomain(context({ fetch: origins.fetch, now: () => clock.at, shared, ...more }), domain);
  return { clock, origins, shared, crawl };
}

/** What the manager says of one publisher. */
const named = (domain: string) => ({
  agents: agent({
    authorization_type: "publisher_properties",
    publisher_properties: [{ publisher_domain: domain, selection_type: "all" }],
  }),
  property: property({ property_id: domain, publisher_domain: domain }),
});

function managerOf(origins: Origins, domains: readonly string[]): void {
  const parts = domains.map(named);
  origins.answers.set(
    MANAGER,
    file({ authorized_agents: parts.map((one) => one.agents), properties: parts.map((one) => one.property) }),
  );
}

test("who looks at a publisher's file is told of its manager's as it is now", async () => {
  const { origins, shared, crawl, clock } = world();
  origins.answers.set("a.example/ads.txt", "managerdomain=manager.example");
  managerOf(origins, ["b.example"]);
  assert.is((await crawl("a.example")).result.adagents.outcome, "invalid");
  const origin = { ...context({ fetch: origins.fetch }), shared };
  const look = inspector(origin, { lookup: publicLookup, optedOut: async () => false, now: () => clock.at });
  managerOf(origins, ["a.example", "b.example"]);
  assert.is((await look("a.example"))?.outcome, "valid");
  assert.is((await crawl("a.example")).result.adagents.outcome, "valid", "and so is the next who asks");
  assert.is(origins.times(MANAGER), 2);
});

test("a manager is asked once for publishers crawled side by side, and each gets what is said of it alone", async () => {
  const { origins, crawl } = world();
  const children = ["a.example", "b.example", "c.example"];
  managerOf(origins, children.slice(0, 2));
  for (const domain of children) origins.answers.set(`${domain}/ads.txt`, "managerdomain=manager.example");
  const found = await Promise.all(children.map((domain) => crawl(domain)));
  assert.is(origins.times(MANAGER), 1);
  assert.equal(
    found.map(({ result }) => [
      result.adagents.outcome,
      result.adagents.managerDomain,
      result.adagents.file?.properties.map(({ id }) => id),
    ]),
    [
      ["valid", "manager.example", ["a.example"]],
      ["valid", "manager.example", ["b.example"]],
      ["invalid", "manager.example", undefined],
    ],
  );
  await crawl("a.example");
  assert.is(origins.times(MANAGER), 1);
});

test("a location is asked once for all that point there; what a domain itself says is asked every time", async () => {
  const { origins, crawl } = world();
  for (const domain of ["a.example", "b.example"])
    origins.answers.set(`${domain}/adagents.json`, { authoritative_location: "https://manager.example/all.json" });
  origins.answers.set("manager.example/all.json", file());
  for (const domain of ["a.example", "b.example", "a.example"])
    assert.is((await crawl(domain)).result.adagents.outcome, "valid");
  assert.equal([origins.times("manager.example/all.json"), origins.times("a.example/adagents.json")], [1, 2]);
});

test("it is fetched again after five minutes, and at once for whoever asked for a crawl", async () => {
  const { origins, clock, crawl } = world();
  managerOf(origins, ["a.example"]);
  origins.answers.set("a.example/ads.txt", "managerdomain=manager.example");
  await crawl("a.example");
  clock.at += 5 * MINUTE_MS - 1;
  await crawl("a.example");
  assert.is(origins.times(MANAGER), 1);
  await crawl("a.example", { fresh: true });
  assert.is(origins.times(MANAGER), 2);
  clock.at += 5 * MINUTE_MS - 1;
  await crawl("a.example");
  assert.is(origins.times(MANAGER), 2, "what was fetched then is shared too");
  clock.at += 1;
  await crawl("a.example");
  assert.is(origins.times(MANAGER), 3);
});

test("a manager that is down is not asked again for each publisher, and soon again", async () => {
  const { origins, clock, crawl } = world();
  for (const domain of ["a.example", "b.example"])
    origins.answers.set(`${domain}/ads.txt`, "managerdomain=manager.example");
  origins.answers.set(MANAGER, 503);
  for (const domain of ["a.example", "b.example"])
    assert.equal((await crawl(domain)).error, "the origin answered with status 503");
  assert.is(origins.times(MANAGER), 1);
  clock.at += 20_000;
  managerOf(origins, ["a.example"]);
  assert.is((await crawl("a.example")).result.adagents.outcome, "valid");
});

test("a redirect that is followed to a manager's own file is none that a pointer may lead through", async () => {
  const { origins, crawl } = world();
  managerOf(origins, ["a.example", "b.example"]);
  const moved = "https://manager.example/.well-known/adagents.json";
  origins.answers.set("a.example/ads.txt", "managerdomain=manager.example");
  origins.answers.set("b.example/adagents.json", { authoritative_location: moved });
  // As the guarded fetch does: redirects where they are allowed, a status where they are not.
  const fetch: Fetcher = async (url, request = {}) => {
    const found = await origins.fetch(url, request);
    if (url !== moved || request.redirects !== undefined || !found.ok) return found;
    return { ...found, status: 301 };
  };
  assert.is((await crawl("a.example", { fetch })).result.adagents.outcome, "valid");
  assert.is((await crawl("b.example", { fetch })).error, "the authoritative location redirects");
});

test("what is kept is bounded in bytes and in number, the longest unasked goes first", async () => {
  const { shared } = world();
  const MIB = 1024 * 1024;
  const asked: string[] = [];
  const get = (key: string, bytes: number) =>
    shared.get(
      key,
      async () => {
        asked.push(key);
        return { ok: true, status: 200, bytes, url: `https://${key}`, value: {} };
      },
      false,
    );
  for (const key of ["a", "b", "a", "c"]) await get(key, 7 * MIB);
  assert.equal(asked, ["a", "b", "c"]);
  await get("a", 7 * MIB);
  assert.equal(asked, ["a", "b", "c"], "a was asked for after b");
  await get("b", 7 * MIB);
  assert.equal(asked, ["a", "b", "c", "b"]);
  for (const _ of [1, 2]) await get("huge", 17 * MIB);
  assert.equal(asked.slice(4), ["huge", "huge"]);
  asked.length = 0;
  for (let index = 0; index < 1_001; index += 1) await get(`small ${index}`, 1);
  await get("small 1", 1);
  assert.is(asked.length, 1_001);
  await get("small 0", 1);
  assert.is(asked.length, 1_002);
});

test("a fetch that was broken off, or threw, is made again", async () => {
  const { shared } = world();
  let asked = 0;
  const broken = () => {
    asked += 1;
    return Promise.resolve(notFetched("aborted", "the crawl was broken off"));
  };
  for (const _ of [1, 2]) await shared.get("k", broken, false);
  assert.is(asked, 2);
  const thrown = await shared
    .get("k", () => Promise.reject(new Error("no")), false)
    .catch((error: Error) => error.message);
  assert.is(thrown, "no");
  await shared.get("k", broken, false);
  assert.is(asked, 3);
});

robotsRules(test);

test.run();
