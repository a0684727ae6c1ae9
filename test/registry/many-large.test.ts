/** Hundreds of large files, as anybody with a domain can serve them: no transaction reads all of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Coroutine } from "../../runtime/db/coroutine.js";
import type { Query } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { SnapshotPlace } from "../../runtime/registry/follow-types.js";
import { exportRegistry } from "../../runtime/registry/transfer/export.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { crawl, entry, NOW, property, SELLER } from "./data-fixture.js";

const FILES = 12;
/** Bytes of one file's entries. */
const LARGE = 2_000_000;

/** A store that notes how many characters its largest transaction reads. */
function noting(store: SqliteStore): { store: SqliteStore; most: () => number } {
  let most = 0;
  const noted =
    <T>(work: (q: Query, tx?: unknown) => Coroutine<T>) =>
    (q: Query, tx?: unknown): Coroutine<T> => {
      let read = 0;
      const rows = function* (text: string, values: never): Coroutine<unknown[]> {
        const found: Record<string, unknown>[] = yield* q.rows(text, values);
        for (const row of found) for (const one of Object.values(row)) if (typeof one === "string") read += one.length;
        most = Math.max(most, read);
        return found;
      };
      const counting = new Proxy(q, {
        get: (target, name) => {
          if (name === "rows") return rows;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      return work(counting, tx);
    };
  const { database } = store;
  const over = {
    write: (work: never) => database.write(noted(work)),
    read: (work: never) => database.read(noted(work)),
  };
  return { store: { ...store, database: { ...database, ...over } } as unknown as SqliteStore, most: () => most };
}

async function withLarge(work: (store: SqliteStore) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-large-"));
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  try {
    const data = createRegistryData(store, { now: () => NOW });
    const propertyIds = Array.from({ length: LARGE / 225 }, (_, at) => `p${at}`.padEnd(220, "x"));
    const agent = entry(SELLER, { authorizationType: "property_ids", propertyIds, effectiveUntil: NOW + 1_000 });
    for (let at = 0; at < FILES; at += 1)
      await data.applyCrawl(crawl(`p${at}.example`, { properties: [property("a")], agents: [agent] }));
    await work(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

test("authorizations of many large files that end at one time are ended a few at a time", async () => {
  await withLarge(async (opened) => {
    const { store, most } = noting(opened);
    const data = createRegistryData(store, { now: () => NOW + 2_000 });
    assert.is(await data.recomputeEffect(), FILES);
    // Once to work it out, and once for the feed.
    assert.ok(most() > LARGE && most() < 18 * LARGE, `${most()} characters`);
    assert.is(await data.recomputeEffect(), 0);
  });
});

test("an export reads a few of many large files at a time, and has them all", async () => {
  await withLarge(async (opened) => {
    const { store, most } = noting(opened);
    const domains: string[] = [];
    for await (const line of exportRegistry(store)) domains.push((JSON.parse(line) as { domain: string }).domain);
    assert.equal([domains.length, new Set(domains).size], [FILES, FILES]);
    assert.ok(most() > LARGE && most() < 9 * LARGE, `${most()} characters`);
  });
});

test("the feed and a snapshot read a few of many large files at a time, and tell them all", async () => {
  await withLarge(async (opened) => {
    const { store, most } = noting(opened);
    const data = createRegistryData(store, { now: () => NOW });
    const fed: string[] = [];
    for (let [cursor, more] = [undefined as string | undefined, true]; more; ) {
      const page = await data.feed({
        types: ["authorization.*"],
        limit: 1_000,
        ...(cursor !== undefined && { cursor }),
      });
      assert.ok(page.ok);
      fed.push(...page.value.events.map(({ payload }) => String(payload.publisher_domain)));
      [cursor, more] = [page.value.cursor ?? undefined, page.value.has_more];
    }
    assert.equal([fed.length, new Set(fed).size], [FILES, FILES]);
    const sources = ["adagents_json"] as const;
    let parts = 0;
    for (let place: SnapshotPlace | undefined = { publisher: 0, agent: 0 }; place !== undefined; parts += 1)
      place = (await data.authorizationsAfter(place, sources)).next;
    assert.ok(parts > 1 && parts < FILES, `${parts}`);
    assert.ok(most() > LARGE && most() < 6 * LARGE, `${most()} characters`);
    // None of what they select is there.
    assert.equal(await data.authorizationsOf(SELLER, { sources, limit: 10 }), []);
  });
});

test.run();
