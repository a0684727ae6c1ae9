import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/inbox.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { arrival, newEvent } from "../store/cases/events.js";
import { commandFolder, runCommand } from "./run-command.js";

const NOW = 1_776_520_800_000;
const test = suite<{ store: SqliteStore; folder: ReturnType<typeof commandFolder>; dead: number }>("inbox");

test.before.each(async (context) => {
  context.folder = commandFolder();
  context.store = openSqliteStore({ path: context.folder.at("inbox.db") });
  const { inbox } = context.store;
  const order = { instant: "2026-04-18T14:00:00.000000000", status: "working", terminal: false, by: "sender" as const };
  const lease = { owner: "a", until: NOW + 1000 };
  const first = await inbox.accept(arrival(newEvent({ taskId: "t-1" }), { order, lease }));
  context.dead = first.outcome === "accepted" ? first.id : 0;
  await inbox.deadLetter({ id: context.dead, owner: "a", now: NOW }, "Error: \u001b[31mno\n luck");
  await inbox.accept(arrival(newEvent({ operationId: "later" }), { registered: false }));
});
test.after.each(async ({ store, folder }) => {
  await store.close();
  folder.remove();
});

const inbox = (...argv: string[]) => runCommand(register, [...argv, "--store", "sqlite:inbox.db"]);

test("list shows what is there, without control characters and without bodies", async ({ dead }) => {
  const { out, code } = await inbox("list");
  assert.is(code, 0);
  assert.match(out, /dead +create_media_buy +working +1 failure/);
  assert.match(out, "Error: ?[31mno? luck");
  assert.match(out, /0 pending, 1 parked, 1 dead\n$/);
  const { events, backlog } = JSON.parse((await inbox("list", "--json", "--state", "dead")).out);
  assert.equal(backlog, { pending: 0, parked: 1, dead: 1 });
  assert.equal([events.length, events[0].id, events[0].bytes, events[0].body], [1, dead, 7, undefined]);
  const withBody = JSON.parse((await inbox("list", "--json", "--body", "--after", String(dead))).out);
  assert.equal(
    withBody.events.map((event: { body: string }) => event.body),
    ['{"a":1}'],
  );
});

test("replay hands an event back, and says when it cannot", async ({ store, dead }) => {
  const { out, code } = await inbox("replay", String(dead));
  assert.equal([out, code], [`${dead}: pending again\n`, 0]);
  assert.is((await store.inbox.get(dead))!.state, "pending");
  assert.match((await inbox("replay", String(dead))).err, "pending already");
  const unknown = await inbox("replay", "999");
  assert.equal([unknown.code, /no such event/.test(unknown.err)], [1, true]);
});

test("an event whose task has moved on is replayed only by force", async ({ store, dead }) => {
  const order = {
    instant: "2026-04-18T15:00:00.000000000",
    status: "completed",
    terminal: true,
    by: "sender" as const,
  };
  await store.inbox.accept(arrival(newEvent({ taskId: "t-1" }), { order }));
  const refused = await inbox("replay", String(dead));
  assert.equal([refused.code, /moved on/.test(refused.err)], [1, true]);
  assert.is((await store.inbox.get(dead))!.state, "dead");
  assert.is((await inbox("replay", "--force", String(dead))).code, 0);
});

test("drop removes an event and keeps its key", async ({ store, dead }) => {
  assert.is((await inbox("drop", String(dead))).out, `${dead}: dropped\n`);
  assert.is((await inbox("drop", String(dead))).code, 1);
  assert.is(await store.claims("https://seller.example/agent"), 2);
});

test("what cannot be meant is a usage error", async () => {
  assert.is((await inbox("list", "--state", "lost")).code, 2);
  assert.is((await inbox("drop", "x")).code, 2);
  assert.is((await runCommand(register, ["list", "--store", "mysql://h/d"])).code, 2);
});

test.run();
