/** The line in which large expansions wait: what was read for each is held in memory meanwhile. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { LargeWork } from "../../runtime/registry/steps.js";

test("two are under way and sixteen wait, the next is refused, and whoever waited goes in the order in which it came", async () => {
  const work = new LargeWork(2);
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const begun: number[] = [];
  const all = Array.from({ length: 18 }, (_, at) =>
    work.run("", async () => {
      begun.push(at);
      await held;
      if (at === 3) throw new Error("of its own");
    }),
  );
  const refused = await work.run("", async () => "done").catch((error: unknown) => error);
  assert.instance(refused, AdbindError);
  assert.is((refused as AdbindError).code, "registry_busy");
  assert.equal(begun, [0, 1]);
  goOn();
  const ends = await Promise.allSettled(all);
  assert.equal(
    ends.flatMap(({ status }, at) => (status === "rejected" ? [at] : [])),
    [3],
  );
  assert.equal(begun, [...ends.keys()]);
  assert.is(await work.run("", async () => "done"), "done");
});

test("who comes to a line that one caller fills takes a place of it, and has the next turn but one", async () => {
  const work = new LargeWork(1);
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const ask = (by: string, name = by) =>
    work.run(by, async () => {
      begun.push(name);
      await held;
    });
  const crowd = Array.from({ length: 17 }, (_, at) => ask("crowd", `crowd ${at}`));
  const others = ["one", "two"].map((by) => ask(by));
  const more = await ask("crowd", "one more").catch((error: unknown) => error);
  assert.is((more as AdbindError).code, "registry_busy");
  goOn();
  const ends = await Promise.allSettled([...crowd, ...others]);
  assert.equal(
    ends.map(({ status }) => status),
    [...Array(15).fill("fulfilled"), "rejected", "rejected", "fulfilled", "fulfilled"],
    "what came last of the crowd gives way",
  );
  assert.equal(begun.slice(0, 5), ["crowd 0", "crowd 1", "one", "two", "crowd 2"]);
  const full = new LargeWork(1);
  const { promise: later, resolve: end } = Promise.withResolvers<void>();
  const each = Array.from({ length: 17 }, (_, at) => full.run(`caller ${at}`, () => later));
  const last = await full.run("another", () => later).catch((error: unknown) => error);
  assert.is((last as AdbindError).code, "registry_busy", "of whom each has one place, none gives it up");
  end();
  await Promise.all(each);
});

test.run();
