/** The feed over HTTP: pages, a stream that tells changes as they are made, and all that stands at once. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { bearer, type Setup, setupRegistry } from "./server-fixture.js";
import { crawlOf, entry, property, SELLER, STREAM, seedWorld } from "./server-world.js";

const feed = suite("feed over HTTP");
let setup: Setup;
let key: string;
let address: string;

feed.before(async () => {
  setup = await setupRegistry();
  const organization = await setup.accounts.addOrganization({ name: "Reader", tier: "company_standard" });
  key = (await setup.accounts.addKey(organization.id, "copy")).key;
  await seedWorld(setup.registry.data, organization.id);
  address = await setup.registry.listen({ port: 0 });
});
feed.after(() => setup.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  setup.registry.app.inject({ url, headers: { ...bearer(key), ...headers } });
const FEED = "/api/registry/feed";
const SNAPSHOT = "/api/registry/authorizations/snapshot";

interface ReadEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: { cursor?: string; events?: { event_type: string; entity_id: string }[]; error?: string };
}

/** What a stream has told so far. */
function reader(response: Response): { readonly told: ReadEvent[]; readonly ended: Promise<void> } {
  const told: ReadEvent[] = [];
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const fields = new Map(part.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
        if (fields.has("data"))
          told.push({ name: fields.get("event")!, id: fields.get("id"), data: JSON.parse(fields.get("data")!) });
      }
    }
  };
  return { told, ended: read().catch(() => undefined) };
}

const follow = (query: string, signal: AbortSignal, headers: Record<string, string> = {}) =>
  fetch(`${address}${FEED}/stream${query}`, { headers: { ...bearer(key), ...headers }, signal });

const endCursor = async (): Promise<string> => {
  let cursor = "";
  for (let more = true; more; ) {
    const page = (await get(`${FEED}?limit=1000&cursor=${cursor}`)).json();
    ({ cursor, has_more: more } = page);
  }
  return cursor;
};

feed("pages: a wrong cursor is refused, an expired one is told as such, an empty one begins", async () => {
  assert.is((await setup.registry.app.inject(FEED)).statusCode, 401);
  assert.is((await get(`${FEED}?cursor=abc`)).statusCode, 400);
  const page = (await get(`${FEED}?cursor=&limit=3`)).json();
  assert.is(page.events.length, 3);
  assert.ok(page.has_more);
  assert.match(page.cursor, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

feed("stream: what stands, then a change within a second of its commit, and heartbeats carry the cursor", async () => {
  const ends = new AbortController();
  const response = await follow(`?types=authorization.*&cursor=${await endCursor()}`, ends.signal, {
    "accept-encoding": "gzip",
  });
  assert.is(response.status, 200);
  assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
  assert.is(response.headers.get("content-encoding"), null);
  const { told } = reader(response);
  const times: number[] = [];
  // The best of a few: on a machine with other work one or another is late.
  for (const domain of ["fresh.example", "second.example", "third.example", "fourth.example", "fifth.example"]) {
    const before = told.length;
    const news = property("a", "website", [], domain);
    await setup.registry.data.applyCrawl(crawlOf(domain, [entry(SELLER)], [news]));
    const committed = performance.now();
    await until(() => told.length > before);
    times.push(performance.now() - committed);
    if (times.at(-1)! < 1_000) break;
  }
  assert.ok(Math.min(...times) < 1_000, `told after ${times} ms`);
  assert.equal(
    told[0]!.data.events!.map(({ event_type, entity_id }) => [event_type, entity_id]),
    [["authorization.granted", `fresh.example ${SELLER}`]],
  );
  assert.is(told[0]!.id, told[0]!.data.cursor);
  ends.abort();
  // Where a browser's EventSource goes on by itself.
  const again = new AbortController();
  const next = reader(await follow("", again.signal, { "last-event-id": told[0]!.id! }));
  await setup.registry.data.applyCrawl(crawlOf("fresh.example", [], [property("a", "website", [], "fresh.example")]));
  await until(() =>
    next.told.some(({ data }) => data.events?.some(({ event_type }) => event_type === "authorization.revoked")),
  );
  assert.not.ok(
    next.told.flatMap(({ data }) => data.events ?? []).some(({ entity_id }) => entity_id.startsWith(STREAM)),
  );
  again.abort();
});

feed("stream: a caller has five at once; an ended one makes room", async () => {
  const ends = Array.from({ length: 6 }, () => new AbortController());
  const cursor = `?cursor=${await endCursor()}`;
  // One that nobody holds is ended when memory is collected.
  const kept: Response[] = [];
  const open = async (at: number): Promise<number> => {
    const stream = await follow(cursor, ends[at]!.signal);
    kept.push(stream);
    return stream.status;
  };
  // Streams of the test before may still be ending.
  await until(async () => {
    const status = await open(0);
    return status === 200;
  });
  for (const at of [1, 2, 3, 4]) await until(async () => (await open(at)) === 200);
  assert.is(await open(5), 429);
  ends[0]!.abort();
  await until(async () => (await open(5)) === 200);
  for (const end of ends) end.abort();
  assert.ok(kept.length > 6);
});

feed("HEAD of a stream says what GET would, and holds no place", async () => {
  const cursor = await endCursor();
  const headers = { ...bearer(key), "accept-encoding": "gzip" };
  const head = () => fetch(`${address}${FEED}/stream?cursor=${cursor}`, { method: "HEAD", headers });
  // Streams of the test before may still be ending.
  await until(async () => (await head()).status === 200);
  for (let times = 0; times < 12; times += 1) {
    const answer = await head();
    assert.is(answer.status, 200);
    assert.match(answer.headers.get("content-type")!, /^text\/event-stream/);
    assert.is(answer.headers.get("content-length"), null);
  }
  const ends = new AbortController();
  assert.is((await follow(`?cursor=${cursor}`, ends.signal)).status, 200);
  ends.abort();
  const snapshot = await fetch(`${address}${SNAPSHOT}`, { method: "HEAD", headers: bearer(key) });
  assert.is(snapshot.headers.get("etag"), String((await get(SNAPSHOT)).headers.etag));
});

feed("snapshot: rows as lines, not sent again while nothing changed, compressed", async () => {
  const whole = await get(SNAPSHOT, { "accept-encoding": "gzip" });
  assert.is(whole.headers["content-encoding"], "gzip");
  const plain = await get(SNAPSHOT);
  const rows = plain.body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(rows.some(({ agent_url, publisher_domain }) => agent_url === SELLER && publisher_domain === STREAM));
  assert.not.ok(rows.some(({ evidence }) => evidence !== "adagents_json"));
  const etag = String(plain.headers.etag);
  assert.is((await get(SNAPSHOT, { "if-none-match": etag })).statusCode, 304);
  const since = await get(`${FEED}?cursor=${plain.headers["x-sync-cursor"]}`);
  assert.equal(since.json().events, []);
  await setup.registry.data.applyCrawl(crawlOf("fresh.example", [entry(SELLER)], []));
  assert.is((await get(SNAPSHOT, { "if-none-match": etag })).statusCode, 200);
  assert.is(
    (await get(`${FEED}?cursor=${plain.headers["x-sync-cursor"]}`)).json().events[0].entity_id,
    "fresh.example",
  );
});

feed("a server that stops ends its streams", async () => {
  const other = await setupRegistry();
  const organization = await other.accounts.addOrganization({ name: "O", tier: "company_standard" });
  const own = (await other.accounts.addKey(organization.id, "k")).key;
  const url = await other.registry.listen({ port: 0 });
  const { ended } = reader(await fetch(`${url}${FEED}/stream`, { headers: bearer(own) }));
  await other.close();
  await ended;
});

feed.run();
