/** `adbind outbox` on more events and endpoints than one question to the store answers. */
import Sqlite from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as outbox } from "../../cli/outbox.js";
import { createSender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { push, start } from "../sender/sender-suite.js";
import { commandFolder, runCommand } from "./run-command.js";

/** More than the store answers at once: 1,000 events, 100 endpoints. */
const OF_ONE = 1_001;
const ENDPOINTS = 101;
const EVENTS = OF_ONE + ENDPOINTS - 1;

const { at, remove } = commandFolder();
const clock = { at: Date.now() };
const run = (...argv: string[]) => runCommand(outbox, [...argv, "--store", "sqlite:outbox.db"]);

test.before(async () => {
  const store = openSqliteStore({ path: at("outbox.db") });
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store });
  for (let task = 0; task < ENDPOINTS; task++) {
    const taskId = `task-${task}`;
    await sender.tasks.register(start({ taskId }), { push: { ...push, url: `https://buyer-${task}.example/hooks` } });
    for (let change = 0; change < (task === 0 ? OF_ONE : 1); change++)
      await sender.tasks.update(taskId, { status: "working", message: `${change}` });
  }
  await sender.stop();
  await store.close();
});
test.after(remove);

test("as many events are listed as are asked for", async () => {
  const { events } = JSON.parse((await run("list", "--json", "--limit", "5000")).out);
  assert.is(events.length, EVENTS);
  const lines = (await run("list", "--limit", "5000")).out.trimEnd().split("\n");
  assert.is(lines.length, EVENTS + 1);
  assert.is(JSON.parse((await run("list", "--json", "--limit", "1001")).out).events.length, 1_001);
});

test("where more stand behind those that are listed, it says how they are listed", async () => {
  const listed = await run("list", "--limit", "2");
  assert.match(listed.err, /2 events are listed; those after them: --after 2/);
  assert.is((await run("list", "--limit", "5000")).err, "");
  const endpoints = await run("endpoints");
  assert.match(endpoints.err, /100 endpoints are listed; those after them: --after "https:\/\/buyer-/);
  const rest = /--after "(.*)"/.exec(endpoints.err)![1]!;
  assert.match((await run("endpoints", "--after", rest)).out, /\n1 endpoint\n$/);
});

test("as many endpoints are listed as are asked for", async () => {
  assert.is(JSON.parse((await run("endpoints", "--json", "--limit", "500")).out).endpoints.length, ENDPOINTS);
  assert.match((await run("endpoints", "--limit", "500")).out, "\n101 endpoints\n");
});

test("a move says of all events that they would go elsewhere", async () => {
  const { endpoints } = JSON.parse((await run("endpoints", "--json")).out);
  const { endpoint } = endpoints.find(({ waiting }: { waiting: number }) => waiting === OF_ONE);
  const asked = await run("move", endpoint, "https://new.example/hooks");
  assert.is(asked.code, 2);
  assert.match(asked.err, "1001 events would be sent to https://new.example/hooks");
});

test("what another operator sends again meanwhile is not dropped with what had ended", async () => {
  const file = new Sqlite(at("outbox.db"));
  const ids = "select id from adbind_jobs order by id desc limit 3";
  file.exec(`update adbind_jobs set state = 'dead' where id in (${ids})`);
  // He does it as the first of them goes.
  file.exec(`create trigger again after delete on adbind_jobs begin
    update adbind_jobs set state = 'ready' where id = (select max(id) from adbind_jobs); end`);
  assert.is((await run("drop", "--state", "dead", "--yes")).out.trimEnd().split("\n").at(-1), "2 events");
  file.exec("drop trigger again");
  const { counts } = JSON.parse((await run("list", "--json")).out);
  assert.equal(counts, { waiting: EVENTS - 2, dead: 0, expired: 0, refused: 0 });
  file.close();
});

test("an event that is not there is not said to be under way", async () => {
  for (const command of ["retry", "replay"]) assert.match((await run(command, "99999")).err, "99999 is not there, ");
});

test.run();
