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
    work.run(async () => {
      begun.push(at);
      await held;
      if (at === 3) throw new Error("of its own");
    }),
  );
  const refused = await work.run(async () => "done").catch((error: unknown) => error);
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
  assert.is(await work.run(async () => "done"), "done");
});

test.run();
