/** Listeners of an application that fail themselves. */
import { once } from "node:events";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { safely } from "../../runtime/listener.js";

const ways: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new RangeError("its own");
  },
  rejects: async () => {
    throw new RangeError("its own");
  },
  "answers what can be waited for, and rejects": () => ({
    // biome-ignore lint/suspicious/noThenProperty: as some libraries' promises are
    then: (_: unknown, reject: (error: Error) => void) => reject(new RangeError("its own")),
  }),
};

for (const [how, listener] of Object.entries(ways)) {
  test(`one that ${how} becomes a warning`, async () => {
    const warned = once(process, "warning");
    safely(listener);
    const [warning] = (await warned) as [Error];
    assert.is(warning.name, "AdbindFault");
    assert.match(warning.message, "RangeError: its own");
  });
}

test("one that answers is left alone", () => {
  let told = 0;
  for (const answer of [undefined, null, 7, {}, Promise.resolve()]) {
    safely(() => {
      told += 1;
      return answer;
    });
  }
  assert.is(told, 5);
});

test.run();
