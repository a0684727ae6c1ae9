/** An administrator's code that forbids whatever changes a schema. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const FORBIDS = `create function no_ddl() returns event_trigger language plpgsql as
  $$begin raise exception 'changes of schemas go through the DBAs'; end$$`;

test("tables that an event trigger forbids to make are told of with where, who said so and what to do", async () => {
  const url = await postgres.empty();
  await runStatements(url, FORBIDS, "create event trigger no_ddl on ddl_command_start execute function no_ddl()");
  const { code, where, message, remedy } = await thrownBy(() => openPostgres({ url, connections: 1 }));
  assert.is(code, "store_schema");
  assert.match(where ?? "", "127.0.0.1");
  assert.match(message, "changes of schemas go through the DBAs");
  assert.match(remedy ?? "", "pg_event_trigger");
});

test("so are days that it forbids to make", async () => {
  const url = await postgres.database();
  await runStatements(url, FORBIDS, "create event trigger no_ddl on ddl_command_start execute function no_ddl()");
  const database = await openPostgres({ url, connections: 2 });
  try {
    const { code, message } = await thrownBy(() => database.partitions({ days: 2, activityDays: 30 }));
    assert.is(code, "store_schema");
    assert.match(message, "refuses to make or drop partitions: changes of schemas go through the DBAs");
  } finally {
    await database.close();
  }
});

test.run();
