/** What a part of a search's index refuses: those who may not ask it, who take it for another, and what is no question. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Database } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { PART_FORMAT, PART_PATH } from "../../runtime/registry/search/part-wire.js";
import { storeIdentity } from "../../runtime/store/identity.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { agent, crawl, entry, member, property, sqliteEngine } from "./data-fixture.js";
import { type Parts, startParts, TOKEN } from "./search-parts.js";
import { bearer } from "./server-fixture.js";

const engine = sqliteEngine();
const test = suite<{ store: AnyStore; parts: Parts }>("what a part of a search's index refuses");

test.before(async (context) => {
  context.store = await engine.open();
  const data = createRegistryData(context.store);
  const urls = Array.from({ length: 8 }, (_, at) => `https://agent-${at}.example/mcp`);
  await data.putMember(member("all", { agents: urls.map((url) => agent(url)) }));
  await data.applyCrawl(crawl("p.example", { properties: [property("p")], agents: urls.map((url) => entry(url)) }));
  context.parts = await startParts(context.store);
  identity = await storeIdentity(context.store.database as Database);
});
test.after(async ({ parts }) => {
  await parts.stop();
  await engine.stop();
});

let identity: string;

const questionOf = (more: object = {}) => ({
  store: identity,
  ask: "hits",
  format: PART_FORMAT,
  part: 1,
  of: 4,
  filters: {},
  discovered: true,
  seq: 0,
  limit: 1_000,
  ...more,
});
const put = async (url: string, question: object | string, token = TOKEN) => {
  const body = typeof question === "string" ? question : JSON.stringify(question);
  const headers = { "content-type": "application/json", ...bearer(token) };
  const answer = await fetch(url + PART_PATH, { method: "POST", headers, body });
  return { status: answer.status, text: await answer.text() };
};

test("without the token a part tells nothing of any agent", async ({ parts, store }) => {
  const [url] = parts.urls as [string];
  for (const token of ["wrong", `${TOKEN}x`, TOKEN.slice(1), ""]) {
    const answer = await put(url, questionOf(), token);
    assert.equal([answer.status, answer.text.includes("agent-")], [401, false]);
  }
  for (const path of ["/readyz", "/healthz", "/metrics", "/api/registry/stats", "/"])
    assert.not(await (await fetch(url + path)).text().then((text) => text.includes("agent-")), path);
  const stranger = createRegistryData(store, { searchParts: { urls: parts.urls, token: "another-secret-of-parts" } });
  assert.equal(await stranger.search({}, { limit: 1 }), { ok: false, reason: "parts_missing" });
  const [state] = (await stranger.searchParts())!;
  assert.is(state!.state, "refused: the token is not the one of this part");
});

test("who takes a part for another, or speaks another format, is refused in words", async ({ parts, store }) => {
  const [url] = parts.urls as [string];
  const half = createRegistryData(store, { searchParts: { urls: parts.urls.slice(0, 2), token: TOKEN } });
  assert.equal(await half.search({}, { limit: 1 }), { ok: false, reason: "parts_missing" });
  assert.match((await half.searchParts())![1]!.state, "refused: this is part 2/4, and was asked as 2/2");
  const turned = createRegistryData(store, { searchParts: { urls: [...parts.urls].reverse(), token: TOKEN } });
  assert.match((await turned.searchParts())![0]!.state, "this is part 4/4, and was asked as 1/4");
  const newer = await put(url, questionOf({ format: PART_FORMAT + 1 }));
  assert.is(newer.status, 409);
  const nobodys = await put(url, questionOf({ store: undefined }));
  assert.equal([nobodys.status, nobodys.text.includes("was asked without one")], [409, true]);
  assert.match(newer.text, `speaks format ${PART_FORMAT}, and was asked in ${PART_FORMAT + 1}`);
});

test("what is no question is refused, and so is one that is too long or wants too much", async ({ parts }) => {
  const [url] = parts.urls as [string];
  assert.is((await put(url, questionOf())).status, 200);
  const bad = [
    "[]",
    "{",
    questionOf({ ask: "everything" }),
    questionOf({ store: 1 }),
    questionOf({ limit: 100_000 }),
    questionOf({ filters: { name: ["x"] } }),
    questionOf({ filters: { tags: "x" } }),
    questionOf({ after: { score: "1", url: "x" } }),
    questionOf({ at: { seq: -1, last: 0, pruned: 0 } }),
    questionOf({ ask: "facets", least: { tags: "1" } }),
    questionOf({ ask: "counts" }),
    questionOf({ ask: "matrix", channels: [1], markets: [] }),
  ];
  for (const question of bad) assert.is((await put(url, question)).status, 400, JSON.stringify(question));
  assert.is((await put(url, questionOf({ filters: { tags: ["x".repeat(200_000)] } }))).status, 413);
});

test("a clock that its database never reaches is not waited for without end", async ({ parts }) => {
  const at = { seq: 1_000_000, last: 1_000_000, pruned: 0 };
  const answer = await put(parts.urls[0]!, questionOf({ at }));
  assert.equal([answer.status, JSON.parse(answer.text).code], [503, "part_behind"]);
});

test.run();
