/** Row level security that an administrator switches on for tables of ours. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { appRole } from "../support/app-role.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

test("tables whose rows are all hidden from the role are told of as it opens, and what to do; its owner opens them", async () => {
  const url = await postgres.database();
  const opened = async (of: string): Promise<void> => (await openPostgres({ url: of, connections: 1 })).close();
  const { role, own, drop } = await appRole(url);
  try {
    await opened(own);
    await runStatements(url, "alter table adbind_sent_tasks enable row level security");
    const { code, message } = await thrownBy(() => opened(own));
    assert.is(code, "database_unreachable");
    assert.match(message, /row level security hides all rows of adbind_sent_tasks from the role \(.*\): .*disable/);
    await opened(url);
    await runStatements(url, `create policy all_of_it on adbind_sent_tasks to ${role} using (true)`);
    await opened(own);
    await runStatements(url, "drop policy all_of_it on adbind_sent_tasks");
    await runStatements(url, "create policy others on adbind_sent_tasks to pg_monitor using (true)");
    assert.is((await thrownBy(() => opened(own))).code, "database_unreachable");
    // Those of the application are its own.
    await runStatements(url, "alter table adbind_sent_tasks disable row level security");
    await runStatements(url, "create table theirs (id integer)", "alter table theirs enable row level security");
    await opened(own);
  } finally {
    await drop();
  }
});

test.run();
