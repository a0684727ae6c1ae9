/** A seller's documents on several databases. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { splitChange } from "../../runtime/store/split/change.js";
import { splitDocuments } from "../../runtime/store/split/documents.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { codeOf } from "../support/thrown.js";
import { initSplit, type SplitSellers, splitSellers } from "./behaviours-world.js";
import { type Ground, named } from "./databases.js";
import { going, staying, THREE } from "./principal-world.js";

type Case = ReturnType<typeof suite>;

export function splitDocumentsCase(ground: Ground): void {
  const test = suite(`documents on several databases, ${ground.name}`);
  const sellers = splitSellers();

  owned(test, ground, sellers);
  left(test, ground, sellers);
  many(test, ground, sellers);
  test.after.each(() => sellers.close());
  test.after(() => ground.close());
  test.run();
}

function owned(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("documents are written in their owner's transaction and in no other, and everybody's are found by all", async () => {
    const urls = await ground.fresh(3);
    const store = await sellers.store(urls);
    const documents = splitDocuments<object>(store.principals);
    const [one, two] = [THREE[0]!, THREE[1]!].map((name) => staying.find((b) => placeAmong(THREE, b) === name)!) as [
      string,
      string,
    ];
    const place = (owner: string) => ({ collection: "note", owner, id: "n" });
    const change = (owner: string) => ({ ...place(owner), version: undefined, body: `"${owner}"` });
    assert.is(await codeOf(() => documents.commit([change(one), change(two)])), "split_wrong_database");
    assert.is(
      await codeOf(() => documents.commit([change(one)], [(tx) => documents.write(tx, [change(two)])])),
      "split_wrong_database",
    );
    assert.is(await documents.get(place(one)), undefined, "nothing of it was kept");
    await documents.commit([], [(tx) => documents.write(tx, [change(one)])], one);
    await documents.commit([change(two)]);
    assert.equal(await documents.owners("note"), [one, two].sort());
    assert.equal([await documents.collections(one), await documents.collections("nobody")], [["note"], []]);
    assert.equal(
      (await documents.list("note", two)).map(({ body }) => body),
      [`"${two}"`],
    );
    const other = await sellers.store(urls);
    assert.is((await splitDocuments(other.principals).get(place(one)))?.body, `"${one}"`);
  });
}

function left(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("documents that have left a database are read where they are now, though rows of before are there still", async () => {
    const urls = await ground.fresh(4);
    await initSplit(urls.slice(0, 3));
    const [writer, reader] = [await sellers.store(urls), await sellers.store(urls)];
    const [owner] = going as [string];
    const place = { collection: "note", owner, id: "n" };
    const [written, read] = [splitDocuments<object>(writer.principals), splitDocuments<object>(reader.principals)];
    const put = (body: string) => written.commit([{ ...place, version: undefined, body }]);
    await put('"before"');
    const seen: (string | undefined)[] = [(await read.get(place))?.body];
    const change = splitChange({
      kind: "principal",
      databases: named(urls),
      async onStep(step, keyspace) {
        if (step !== "left" || keyspace !== owner) return;
        await put('"after"');
        seen.push((await read.get(place))?.body, ...(await read.list("note", owner)).map(({ body }) => body));
        seen.push(...(await read.owners("note")));
      },
    });
    await change.add("d");
    await change.move();
    await change.close();
    assert.equal(seen, ['"before"', '"after"', '"after"', owner]);
  });
}

/** On a file each costs what it costs; a server's journeys are another matter. */
const MANY = { sqlite: 4_000, postgres: 1_000 } as Readonly<Record<string, number>>;

function many(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("thousands of documents move within the usual fence, in their order", async () => {
    const urls = await ground.fresh(4);
    await initSplit(urls.slice(0, 3));
    const store = await sellers.store(urls);
    const documents = splitDocuments(store.principals);
    const [owner] = going as [string];
    const count = MANY[ground.name]!;
    const ids = Array.from({ length: count }, (_, at) => String((at * 7) % count));
    const body = JSON.stringify("x".repeat(500));
    await documents.commit(ids.map((id) => ({ collection: `event/${Number(id) % 3}`, owner, id, version: 0, body })));
    const order = async (): Promise<string[]> => (await documents.list("event/1", owner)).map(({ id }) => id);
    const before = await order();
    const change = splitChange({ kind: "principal", databases: named(urls) });
    await change.add("d");
    assert.is(await change.move(), 1);
    await change.close();
    assert.equal(await order(), before);
  });
}
