/** Searches that ask a copy of the database, played by a database that has got less far. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdbindError } from "../../runtime/errors.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { formatCursor } from "../../runtime/registry/search/cursor.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { agent } from "./data-fixture.js";
import { inventory, names, pageOf, register, urlOf } from "./data-search-fixture.js";

const postgres = await sharedPostgres();
const store = await openPostgresStore({ url: await postgres.database(), connections: 4 });
const copy = await openPostgresStore({ url: await postgres.database(), connections: 4 });
const data = createRegistryData(store, { search: "database" });
const byCopy = createRegistryData(store, { search: "database", searchCopy: copy });

const failure = (work: Promise<unknown>): Promise<AdbindError> =>
  work.then(
    () => assert.unreachable("an answer came"),
    (error) => error as AdbindError,
  ) as Promise<AdbindError>;

test.before(async () => {
  await register(data, [agent(urlOf(1)), agent(urlOf(2))]);
  for (const name of [1, 2]) await data.applyCrawl(inventory(name, name));
  assert.equal(names((await pageOf(data, {}, 9)).results), ["2", "1"]);
});

test("a copy that has no table of the search yet answers nothing, and says that it is behind", async () => {
  const { code, message } = await failure(byCopy.search({}, { limit: 9 }));
  assert.is(code, "database_busy");
  assert.match(message, "is behind");
});

test("a page that begins after what a copy has is not answered from it", async () => {
  // Made of what the copy itself has, which is nothing.
  await createRegistryData(copy, { search: "database" }).search({}, { limit: 1 });
  const { cursor } = await pageOf(data, {}, 1);
  const { code } = await failure(byCopy.search({}, { limit: 1, cursor: cursor! }));
  assert.is(code, "database_busy");
});

test("a cursor of a time that no database has seen is none, with a copy too", async () => {
  const cursor = formatCursor({ seq: 1_000_000, after: { score: 1, url: urlOf(1) } });
  assert.equal(await byCopy.search({}, { limit: 1, cursor }), { ok: false, reason: "cursor_invalid" });
});

test.after(async () => {
  await store.close();
  await copy.close();
  await postgres.stop();
});
test.run();
