/** A registry whose role has the rights that docs/database.md names, and no more. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const ROLE = `registry_${process.pid}`;
const member = JSON.stringify({ kind: "member", slug: "seller", display_name: "Seller" });

test("a registry's role needs its tables and sequences, is told what it lacks of those, and no more", async () => {
  const url = await postgres.database();
  const own = Object.assign(new URL(url), { username: ROLE, password: "app" }).href;
  await runStatements(
    url,
    `create role ${ROLE} login password 'app'`,
    `grant select, insert, update, delete on all tables in schema public to ${ROLE}`,
  );
  const store = await openPostgresStore({ url: own });
  try {
    const refused = await thrownBy(() => importRegistry(store, [member], {}));
    assert.is(refused.code, "database_unreachable");
    assert.match(refused.message, /lacks a right .*: grant .*usage and select on its sequences/);
    await runStatements(url, `grant usage, select on all sequences in schema public to ${ROLE}`);
    const { members } = await importRegistry(store, [member], {});
    assert.is(members, 1);
    const data = createRegistryData(store);
    assert.type((await data.feedEnd()).cursor, "string");
    assert.is((await data.stats()).authorizations, 0);
  } finally {
    await store.close();
    await runStatements(url, `drop owned by ${ROLE}`, `drop role ${ROLE}`);
  }
});

test.run();
