/** The library's behaviours on several databases: each caller's documents are where his calls are, and move with them. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EVERYBODY } from "../../runtime/behaviours/frame/documents.js";
import { openDatabase } from "../../runtime/db/open.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { account, key } from "../behaviours/behaving-seller.js";
import { initSplit, linesOf, order, type SplitSellers, splitSellers, version } from "./behaviours-world.js";
import { type Ground, NAMES, named } from "./databases.js";
import { FOUR, going, staying, THREE } from "./principal-world.js";

/** Owners of documents in each database, without everybody's. */
const ownersIn = async (urls: readonly string[]): Promise<Record<string, string[]>> => {
  const found: Record<string, string[]> = {};
  for (const [at, url] of urls.entries()) {
    const database = await openDatabase(url);
    const text = "select distinct owner from adbind_documents where owner like 'https:%' order by owner";
    found[NAMES[at]!] = (await database.query((q) => q.rows<{ owner: string }>(text))).map(({ owner }) => owner);
    await database.close();
  }
  return found;
};

type Case = ReturnType<typeof suite>;

export function splitBehavioursCase(ground: Ground): void {
  const test = suite(`behaviours on several databases, ${ground.name}`);
  const sellers = splitSellers();
  test.after.each(() => sellers.close());

  moving(test, ground, sellers);
  atOnce(test, ground, sellers);
  test.after(() => ground.close());
  if (version !== undefined) test.run();
}

function moving(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("documents of a caller are where his calls are, and move with them while he changes his orders", async () => {
    const urls = await ground.fresh(4);
    await initSplit(urls.slice(0, 3));
    const [one, two] = [await sellers.open(urls), await sellers.open(urls)];
    const some = [...going.slice(0, 2), ...staying.slice(0, 1)];
    const requests = new Map(some.map((buyer) => [buyer, order()]));
    const ids = new Map<string, string>();
    for (const buyer of some)
      ids.set(buyer, (await one.ask("create_media_buy", requests.get(buyer)!, buyer)).media_buy_id);
    const expected = (names: readonly string[]) =>
      Object.fromEntries(
        NAMES.slice(0, 4).map((name) => [name, some.filter((buyer) => placeAmong(names, buyer) === name).sort()]),
      );
    assert.equal(await ownersIn(urls), expected(THREE));
    const change = splitChange({ kind: "principal", databases: named(urls) });
    await change.add("d");
    let moved = false;
    // Each changes every line of his order again and again; what he was told last is what is there.
    const budgets = new Map<string, number>();
    const writers = some.map(async (buyer, at) => {
      const id = ids.get(buyer)!;
      const [first] = await linesOf(two, id, buyer);
      for (let n = 1; !moved || n < 3; n += 1) {
        const packages = [{ package_id: first!.package_id, budget: 500 + n }];
        const { ask } = (at + n) % 2 === 0 ? one : two;
        await ask("update_media_buy", { ...key(), account, media_buy_id: id, packages }, buyer);
        budgets.set(buyer, 500 + n);
      }
    });
    const gone = await change.move().finally(() => (moved = true));
    await Promise.all(writers);
    await change.close();
    // Everybody's is a keyspace, too.
    assert.is(gone, placeAmong(FOUR, EVERYBODY) === "d" ? 3 : 2);
    assert.equal(await ownersIn(urls), expected(FOUR));
    for (const buyer of some) {
      const id = ids.get(buyer)!;
      assert.is((await linesOf(one, id, buyer))[0]!.budget, budgets.get(buyer), buyer);
      const again = await two.ask("create_media_buy", requests.get(buyer)!, buyer);
      assert.equal([again.media_buy_id, again.replayed], [id, true], buyer);
      const other = some.find((another) => another !== buyer)!;
      const { media_buys: none } = await one.ask("get_media_buys", { account, media_buy_ids: [id] }, other);
      assert.is(none.length, 0, "it is nobody else's");
    }
  });
}

function atOnce(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("calls at two sellers at once that change one document are all kept", async () => {
    const urls = await ground.fresh(3);
    const [one, two] = [await sellers.open(urls), await sellers.open(urls)];
    const [buyer] = going as [string];
    const { media_buy_id: id } = await one.ask("create_media_buy", order(), buyer);
    const lines = await linesOf(two, id, buyer);
    await Promise.all(
      lines.map(({ package_id }, at) =>
        (at % 2 === 0 ? one : two).ask(
          "update_media_buy",
          { ...key(), account, media_buy_id: id, packages: [{ package_id, budget: 900 + at }] },
          buyer,
        ),
      ),
    );
    assert.equal((await linesOf(one, id, buyer)).map(({ budget }) => budget).sort(), [900, 901, 902]);
  });
}
