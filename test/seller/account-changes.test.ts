/** An account's feed of changes: one log, written with what it tells of; pushed, read, and handled once either way. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Release } from "../../runtime/contract/index.js";
import { createAccountChanges, createSeller } from "../../runtime/seller/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { eventRelease, notification } from "../support/event-release.js";
import { SELLER, send, setup, statusOf } from "../support/receiver.js";
import { newBench, sellerOptions } from "./fixture.js";

const listing = {
  name: "list_account_changes",
  protocol: "account",
  mutating: false,
  idempotency: "none",
  request: "account/list-account-changes-request.json",
  arms: { completed: null, failed: null, canceled: null, rejected: null },
  statuses: ["completed"],
} as const;

const release = {
  ...eventRelease,
  tools: { ...eventRelease.tools, list_account_changes: listing },
  schemas: async () => ({ ...(await eventRelease.schemas()), [listing.request]: '{"type":"object"}' }),
} as unknown as Release;

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into answers of every kind
type Page = Record<string, any>;

const DAY_MS = 86_400_000;

async function world(options: { readonly now?: () => number; readonly sender?: never } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-changes-"));
  const store: SqliteStore = openSqliteStore({ path: path.join(folder, "seller.db") });
  let count = 0;
  const changes = createAccountChanges<SqliteStore["db"]>({
    store,
    accountOf: ({ account_id: id }, principal) => (principal === "nobody" || id === "else" ? undefined : String(id)),
    uuid: () => `chg-${++count}`,
    ...options,
  });
  const seller = await createSeller({
    ...sellerOptions(newBench()),
    release,
    store,
    tools: { ...sellerOptions(newBench()).tools, list_account_changes: changes.handler },
  } as never);
  const list = async (more: object = {}, principal = "buyer-1") => {
    const args = { account: { account_id: "acct-1" }, ...more };
    const called = await seller.call({ tool: listing.name, args, transport: "mcp", identity: { principal } });
    return called.payload as Page;
  };
  const record = (type = "creative", account = "acct-1") =>
    store.db.transaction(() =>
      changes.record(
        {
          account,
          resource: { type, resource_id: `${type}-1` },
          action: "updated",
          origin: { kind: "seller_system" },
          repair: { task: "list_creatives" },
        },
        store.db,
      ),
    );
  const close = async (): Promise<void> => {
    await seller.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { store, changes, seller, list, record, close };
}

const idsOf = (page: Page): string[] => page.changes.map((row: { change_id: string }) => row.change_id);

test("changes are read by cursor, in the order of their commits, of the types asked for", async () => {
  const { list, record, close } = await world();
  for (const type of ["creative", "media_buy", "creative"]) record(type)();
  record("creative", "acct-2")();
  const first = await list({ max_results: 2 });
  assert.equal([idsOf(first), first.has_more], [["chg-1", "chg-2"], true]);
  assert.equal(first.changes[0].resource, { type: "creative", resource_id: "creative-1", account_id: "acct-1" });
  assert.equal(first.changes[0].repair, { task: "list_creatives" });
  const rest = await list({ cursor: first.cursor });
  assert.equal([idsOf(rest), rest.has_more], [["chg-3"], false]);
  assert.equal(idsOf(await list({ cursor: rest.cursor })), []);
  record()();
  assert.equal(idsOf(await list({ cursor: rest.cursor })), ["chg-5"]);
  assert.equal(idsOf(await list({ resource_types: ["media_buy"] })), ["chg-2"]);
  const latest = await list({ starting_position: "latest" });
  assert.equal(idsOf(latest), []);
  record()();
  assert.equal(idsOf(await list({ cursor: latest.cursor })), ["chg-6"]);
  await close();
});

test("a change that is rolled back is in no feed", async () => {
  const { store, list, record, close } = await world();
  const made = record();
  assert.throws(() =>
    store.db.transaction(() => {
      made();
      throw new Error("undone");
    })(),
  );
  assert.equal(idsOf(await list()), []);
  await close();
});

test("a cursor belongs to its caller, account and filter; an account nobody may read is none; one too old is told so", async () => {
  let now = Date.now();
  const { store, seller, list, record, close } = await world({ now: () => now });
  record()();
  const { cursor } = await list({ max_results: 1 });
  const codeOf = (page: Page) => [page.errors?.[0]?.code, page.errors?.[0]?.field];
  assert.equal(codeOf(await list({ cursor }, "buyer-2")), ["INVALID_REQUEST", "cursor"]);
  assert.equal(codeOf(await list({ cursor, account: { account_id: "acct-2" } })), ["INVALID_REQUEST", "cursor"]);
  assert.equal(codeOf(await list({ cursor, resource_types: ["creative"] })), ["INVALID_REQUEST", "cursor"]);
  assert.equal(codeOf(await list({ cursor: "nonsense" })), ["INVALID_REQUEST", "cursor"]);
  assert.equal(codeOf(await list({}, "nobody")), ["ACCOUNT_NOT_FOUND", "account"]);
  record()();
  now += 91 * DAY_MS;
  record()();
  await store.database.execute(`delete from adbind_account_changes where expires <= ${now}`);
  assert.equal(codeOf(await list({ cursor })), ["CURSOR_EXPIRED", "cursor"]);
  assert.equal(idsOf(await list()), ["chg-3"]);
  assert.ok(seller);
  await close();
});

test("a receiver that was away reads the feed: each row is handled once, pushed before or after", async () => {
  const { list, record, close } = await world();
  const s = await setup({ release: eventRelease } as never);
  await s.receiver.expect({ route: "/hooks/account", sender: SELLER, kind: "account" });
  for (let times = 0; times < 3; times++) record()();
  const pushed = (id: string) =>
    notification("account.change_recorded", {
      account_id: "acct-1",
      change_id: id,
      idempotency_key: `push-of-${id}-0123456789`,
    });
  const route = "/hooks/account";
  assert.is(statusOf(await send(s, pushed("chg-2"), { route })), "accepted");
  const read = await s.receiver.readChanges({
    sender: SELLER,
    account: "acct-1",
    list: (cursor) => list({ max_results: 2, ...(cursor !== undefined && { cursor }) }) as never,
  });
  assert.equal([read.accepted, read.more], [2, false]);
  assert.is(statusOf(await send(s, pushed("chg-3"), { route })), "duplicate");
  await s.receiver.idle();
  const handled = s.seen.map(({ event, body }) => [event, (body as Page).change_id]);
  assert.equal(
    handled.map(String).sort(),
    ["chg-1", "chg-2", "chg-3"].map((id) => `account.change_recorded,${id}`),
  );
  const fromFeed = s.seen.find(({ notificationId }) => notificationId === "chg-1")!.body as Page;
  assert.is(fromFeed.ext.change.repair.task, "list_creatives");
  await s.close();
  await close();
});

test.run();
