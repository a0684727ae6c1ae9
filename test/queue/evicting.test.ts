/** How what has to go is shared out. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { evictionsOf, levelled, sharesOf } from "../../runtime/queue/evicting.js";

test("the largest are brought down to one level, and all of what has to go is taken", () => {
  assert.equal(levelled([10, 1, 4], 5), [5, 0, 0]);
  assert.equal(levelled([10, 1, 4], 8), [7, 0, 1]);
  assert.equal(levelled([10, 1, 4], 9), [7, 0, 2]);
  assert.equal(levelled([3, 3, 3], 4), [1, 1, 2]);
  assert.equal(levelled([3, 3, 3], 0), [0, 0, 0]);
  assert.equal(levelled([3, 2], 50), [3, 2]);
  assert.equal(levelled([], 5), []);
});

test("any share leaves nobody with more than one above whoever lost something", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const counts = Array.from({ length: 1 + (seed % 7) }, (_, at) => (seed * 7_919 * (at + 3)) % 23);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const excess = (seed * 31) % (total + 1);
    const taken = levelled(counts, excess);
    const left = counts.map((count, at) => count - taken[at]!);
    assert.is(
      taken.reduce((sum, count) => sum + count, 0),
      excess,
      JSON.stringify({ counts, excess, taken }),
    );
    const most = Math.max(...left);
    for (const [at, count] of left.entries()) {
      assert.ok(count >= 0 && taken[at]! >= 0);
      if (taken[at]! > 0) assert.ok(most - count <= 1, JSON.stringify({ counts, excess, taken }));
    }
  }
});

test("an owner of many endpoints counts as one, and his largest endpoint makes room first", () => {
  const kept = ["a.1", "a.2", "a.3", "b.1"].map((endpoint, at) => ({ endpoint, count: [4, 4, 6, 9][at]! }));
  const shares = sharesOf(new Map(Object.entries({ a: 14, b: 9 })), 4);
  assert.equal(
    evictionsOf(kept, shares, (endpoint) => endpoint[0]!),
    [
      { endpoint: "a.1", count: 1 },
      { endpoint: "a.2", count: 1 },
      { endpoint: "a.3", count: 2 },
    ],
  );
});

test.run();
