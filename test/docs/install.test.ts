/** docs/install.md against the table of uses, the entries there are, and the lock. */
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { installations, manifestOf, type PackageName } from "../../cli/dev/pack/packages.js";
import { installPage, rowsIn, saidCells } from "../../cli/dev/pack/page.js";
import { closureWeight } from "../support/lock-closure.js";

const rows = rowsIn(readFileSync(installPage, "utf8"));
const names: readonly PackageName[] = ["adbind", "adbind-cli"];

test("the page has a row for each use, as it is measured", () => {
  assert.equal(
    rows.map(([what, line, entries, , , most = ""]) => [what, line, entries, most.trim()]),
    installations.map(saidCells),
  );
});

test("every entry is installed by some use, and every use names entries that there are", () => {
  const there = names.flatMap((name) =>
    Object.entries(manifestOf(name).exports)
      .filter(([entry, target]) => typeof target === "object" && !entry.includes("*"))
      .map(([entry]) => `${name}${entry.slice(1)}`),
  );
  const used = installations.flatMap(({ package: name, entries }) =>
    entries.map((entry) => (entry === "" ? name : `${name}/${entry}`)),
  );
  assert.equal([...new Set(used)].sort(), there.sort());
});

test("every peer of a use is one of adbind, and every peer but NATS and types is of some use", () => {
  const used = new Set(installations.flatMap(({ peers }) => peers));
  const there = Object.keys(manifestOf("adbind").peerDependencies);
  assert.equal(
    [...used].filter((name) => !there.includes(name)),
    [],
  );
  assert.equal(
    there.filter((name) => !used.has(name) && !/^@(types|nats-io)\//.test(name)),
    [],
  );
});

for (const [at, one] of installations.entries())
  test(`${one.what}: the page's numbers are what the lock comes to`, () => {
    const own = names.slice(0, one.package === "adbind" ? 1 : 2);
    const wanted = own.flatMap((name) => Object.keys(manifestOf(name).dependencies));
    const { packages, bytes } = closureWeight([...wanted.filter((name) => name !== "adbind"), ...one.peers]);
    const [, , , count, megabytes] = rows[at]!;
    // A fresh installation takes the newest of each range, and shares versions that the lock does not.
    const close = (said: number, is: number, by: number) => assert.ok(Math.abs(said - is) <= by, `${said}, but ${is}`);
    close(Number(count), packages + own.length, packages * 0.03);
    // What is ours is between 3 and 12 MB.
    close(Number(megabytes), bytes / 1e6 + 3.5 * own.length, 2 + bytes / 1e6 / 20);
  });

test.run();
