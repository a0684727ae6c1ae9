/** The rule about servers of tests' own, broken by made-up sources. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { serverFaults } from "./servers.js";
import { parse } from "./source.js";

const faultsOf = (path: string, text: string, listed: Readonly<Record<string, string>> = {}): string[] =>
  serverFaults(parse([{ path, text }]), listed).map((line) => line.split(":")[0]!);

test("a test that starts a server without a reason is found, under whatever name it does", () => {
  const found = ["test/queue/new.test.ts starts a PostgreSQL of its own"];
  for (const text of [
    `import { startPostgres } from "../support/postgres.js"; await startPostgres();`,
    `import { sharedPostgres, startPostgres as start } from "../support/postgres.js"; await start();`,
    `export { startPostgres } from "../support/postgres.js";`,
  ])
    assert.equal(faultsOf("test/queue/new.test.ts", text), found, text);
  assert.equal(faultsOf("test/new.ts", `import { startPostgres } from "./support/postgres.js";`).length, 1);
  assert.equal(faultsOf("test/support/new.ts", `import { startPostgres } from "./postgres.js";`).length, 1);
});

test("who shares the server, or has a reason on the list, is left alone", () => {
  const path = "test/queue/new.test.ts";
  assert.equal(faultsOf(path, `import { sharedPostgres } from "../support/postgres.js";`), []);
  assert.equal(faultsOf(path, `import { startPostgres } from "./postgres.js";`), [], "another one of that name");
  const own = `import { startPostgres } from "../support/postgres.js";`;
  assert.equal(faultsOf(path, own, { [path]: "it restarts it" }), []);
  assert.equal(faultsOf("bench/new.ts", `import { startPostgres } from "../test/support/postgres.js";`), []);
});

test("a file on the list that starts no server any more has to leave it", () => {
  const listed = { "test/queue/old.test.ts": "it did" };
  assert.equal(faultsOf("test/queue/new.test.ts", "", listed), [
    "test/queue/old.test.ts starts no PostgreSQL of its own",
  ]);
});

test.run();
