import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import {
  checkName,
  everyMember,
  firstSet,
  memberNames,
  movedSet,
  placeAmong,
  placesIn,
  withMember,
  withoutMember,
} from "../../runtime/store/split/placement.js";

const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,9}$/);
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });
const keyspaces = fc.array(fc.webUrl(), { maxLength: 30 });

test("a database that comes takes keyspaces for itself only", () => {
  fc.assert(
    fc.property(names, name, keyspaces, (before, added, all) => {
      fc.pre(!before.includes(added));
      for (const one of all) {
        const place = placeAmong([...before, added], one);
        assert.ok(place === added || place === placeAmong(before, one));
      }
    }),
  );
});

test("a database that goes leaves the others theirs", () => {
  fc.assert(
    fc.property(names, keyspaces, (before, all) => {
      const [gone, ...rest] = before;
      fc.pre(rest.length > 0);
      for (const one of all) {
        const place = placeAmong(before, one);
        if (place !== gone) assert.is(placeAmong(rest, one), place);
      }
    }),
  );
});

test("the order of members' names moves nothing", () => {
  fc.assert(
    fc.property(names, keyspaces, (given, all) => {
      for (const one of all) assert.is(placeAmong([...given].reverse(), one), placeAmong(given, one));
    }),
  );
});

test("each of n databases has its share, and one that comes takes about one in n + 1", () => {
  const count = 4000;
  const senders = Array.from({ length: count }, (_, i) => `https://seller-${i}.example/agent`);
  for (const given of [
    ["a", "b", "c"],
    ["eu-1", "eu-2", "us-1", "us-2", "ap-1"],
  ]) {
    const share = count / given.length;
    const found = Map.groupBy(senders, (sender) => placeAmong(given, sender));
    // Five times the deviation of a fair die: never by chance.
    const bound = 5 * Math.sqrt(share * (1 - 1 / given.length));
    for (const one of given) assert.ok(Math.abs(found.get(one)!.length - share) < bound, one);
    const moved = senders.filter((sender) => placeAmong([...given, "new"], sender) === "new").length;
    assert.ok(Math.abs(moved - count / (given.length + 1)) < bound, `${moved} moved`);
  }
});

test("where a keyspace is stays so in a later version: the hash is part of what is stored", () => {
  const set = ["a", "b", "c", "d"];
  const senders = [1, 2, 3, 4, 5, 6].map((i) => `https://seller-${i}.example/agent`);
  assert.equal(
    senders.map((sender) => placeAmong(set, sender)),
    ["d", "a", "c", "a", "c", "b"],
  );
});

test("a set says where a keyspace was before a change that is not over", () => {
  const first = firstSet(["c", "a", "b"]);
  assert.equal(first, firstSet(["b", "c", "a"]));
  const grown = withMember(first, "d");
  assert.is(grown.version, 2);
  assert.equal(memberNames(grown.members), ["a", "b", "c", "d"]);
  const sender = "https://seller.example/agent";
  assert.is(placesIn(grown, sender).before, placeAmong(["a", "b", "c"], sender));
  const settled = movedSet(grown);
  assert.is(placesIn(settled, sender).before, placesIn(settled, sender).place);
  const less = withoutMember(settled, "b");
  assert.equal(memberNames(less.members), ["a", "c", "d"]);
  assert.equal(memberNames(everyMember(less)).sort(), ["a", "b", "c", "d"]);
  const slots = everyMember(withMember(movedSet(less), "e")).map(({ slot }) => slot);
  assert.is(new Set(slots).size, slots.length);
});

test("a name is for hashing, logs and command lines, and nothing else is taken", () => {
  for (const good of ["a", "eu-1", "pg.2_x"]) checkName(good);
  for (const bad of ["", "A", "-a", "a b", "ü", "a".repeat(64), "a=b"]) {
    assert.throws(
      () => checkName(bad),
      (error: unknown) => error instanceof AdbindError && error.code === "store_option_invalid",
    );
  }
});

test.run();
