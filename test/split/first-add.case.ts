/** The first database that is added to one which was alone: every caller's keys are found there, and go where he goes. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Database } from "../../runtime/db/types.js";
import { documentStore, openStore } from "../../runtime/store/index.js";
import { INTENTS } from "../../runtime/store/intent-documents.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { splitDocuments } from "../../runtime/store/split/documents.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { buyRequest, call, newBench, openSeller } from "../seller/fixture.js";
import { codeOf } from "../support/thrown.js";
import { type Ground, named } from "./databases.js";
import { buyers } from "./principal-world.js";

async function initAlone(url: string): Promise<void> {
  const first = splitChange({ kind: "principal", databases: named([url]) });
  try {
    await first.init();
  } finally {
    await first.close();
  }
}

type Case = ReturnType<typeof suite>;

export function firstAddCase(ground: Ground): void {
  const test = suite(`first add, ${ground.name}`);

  calls(test, ground);
  documents(test, ground);
  unnamed(test, ground);
  test.after(() => ground.close());
  test.run();
}

function calls(test: Case, ground: Ground): void {
  test("a caller who has nothing but an answered call is answered the same where he is moved", async () => {
    const urls = await ground.fresh(2);
    const of = (name: string, count: number) =>
      buyers.filter((one) => placeAmong(["a", "b"], one) === name).slice(0, count);
    const some = [...of("a", 1), ...of("b", 2)];
    const plain = await openStore(urls[0]!);
    const bench = newBench();
    const before = await openSeller(bench, { store: plain });
    const answers = new Map<string, { media_buy_id: string }>();
    for (const buyer of some) answers.set(buyer, await call(before as never, "create_media_buy", buyRequest(), buyer));
    await before.close();
    await plain.close();
    await initAlone(urls[0]!);
    const change = splitChange({ kind: "principal", databases: named(urls) });
    await change.add("b");
    assert.is(await change.move(), 2);
    await change.close();
    const store = await shardedByPrincipal(named(urls));
    const after = await openSeller(bench, { store });
    for (const buyer of some) {
      const again = await call(after as never, "create_media_buy", buyRequest(), buyer);
      assert.equal([again.media_buy_id, again.replayed], [answers.get(buyer)!.media_buy_id, true], buyer);
    }
    assert.is(bench.runs, some.length, "no order is made twice");
    await after.close();
    await store.close();
  });
}

function documents(test: Case, ground: Ground): void {
  test("a caller who has nothing but documents keeps them, and what a buyer on that database intends stays there", async () => {
    const urls = await ground.fresh(2);
    const [owner, agent] = buyers.filter((one) => placeAmong(["a", "b"], one) === "b") as [string, string];
    const plain = await openStore(urls[0]!);
    const write = (collection: string, of: string) =>
      documentStore(plain.database as Database).commit([{ collection, owner: of, id: "1", version: 0, body: "{}" }]);
    await write("media_buy", owner);
    await write(INTENTS, agent);
    await plain.close();
    await initAlone(urls[0]!);
    const change = splitChange({ kind: "principal", databases: named(urls) });
    await change.add("b");
    assert.is(await change.move(), 1);
    await change.close();
    const store = await shardedByPrincipal(named(urls));
    assert.is((await splitDocuments(store.principals).list("media_buy", owner)).length, 1);
    await store.close();
    const first = await openStore(urls[0]!);
    assert.is((await documentStore(first.database as Database).list(INTENTS, agent)).length, 1);
    await first.close();
  });
}

function unnamed(test: Case, ground: Ground): void {
  test("a database with answers of callers that nobody can name is not split while they are replayed", async () => {
    const [url] = (await ground.fresh(1)) as [string];
    const plain = await openStore(url);
    const row = (until: number) =>
      "insert into adbind_calls (scope, key, hash, lease, answer, replay_until, forget_at) " +
      `values ('s${until}', 'k', 'h', 0, '{}', ${until}, ${until})`;
    await plain.database.execute(row(Date.now() - 1));
    await plain.close();
    await initAlone(url);
    const [other] = (await ground.fresh(1)) as [string];
    const second = await openStore(other);
    await second.database.execute(row(Date.now() + 3_600_000));
    await second.close();
    assert.is(await codeOf(() => initAlone(other)), "split_invalid");
  });
}
