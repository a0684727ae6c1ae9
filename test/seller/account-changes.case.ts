/** An account's feed of changes: one log, written with what it tells of; pushed, read, and handled once either way. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Release } from "../../runtime/contract/index.js";
import { createAccountChanges, createSeller } from "../../runtime/seller/index.js";
import { eventRelease, notification } from "../support/event-release.js";
import { SELLER, send, setup, statusOf } from "../support/receiver.js";
import { thrownBy } from "../support/thrown.js";
import { newBench, sellerOptions } from "./fixture.js";
import type { SellerCase } from "./store-suite.js";

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

export async function world(of: SellerCase, options: { readonly now?: () => number } = {}) {
  const store = await of.open();
  let count = 0;
  const changes = createAccountChanges<never>({
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
  /** @param undone the transaction's end */
  const record = (type = "creative", account = "acct-1", undone?: Error) =>
    of.within(store as never, (tx) => {
      const made = changes.record(
        {
          account,
          resource: { type, resource_id: `${type}-1` },
          action: "updated",
          origin: { kind: "seller_system" },
          repair: { task: "list_creatives" },
        },
        tx,
      );
      if (undone === undefined) return made;
      if (made instanceof Promise) return made.then(() => Promise.reject(undone));
      throw undone;
    });
  const close = async (): Promise<void> => {
    await seller.close();
    await store.close();
  };
  return { store, changes, seller, list, record, close };
}

const idsOf = (page: Page): string[] => page.changes.map((row: { change_id: string }) => row.change_id);

type Suite = ReturnType<typeof suite>;

function readCases(test: Suite, of: SellerCase): void {
  test("changes are read by cursor, in the order of their commits, of the types asked for", async () => {
    const { list, record, close } = await world(of);
    for (const type of ["creative", "media_buy", "creative"]) await record(type);
    await record("creative", "acct-2");
    const first = await list({ max_results: 2 });
    assert.equal([idsOf(first), first.has_more], [["chg-1", "chg-2"], true]);
    assert.equal(first.changes[0].resource, { type: "creative", resource_id: "creative-1", account_id: "acct-1" });
    assert.equal(first.changes[0].repair, { task: "list_creatives" });
    const rest = await list({ cursor: first.cursor });
    assert.equal([idsOf(rest), rest.has_more], [["chg-3"], false]);
    assert.equal(idsOf(await list({ cursor: rest.cursor })), []);
    await record();
    assert.equal(idsOf(await list({ cursor: rest.cursor })), ["chg-5"]);
    assert.equal(idsOf(await list({ resource_types: ["media_buy"] })), ["chg-2"]);
    const latest = await list({ starting_position: "latest" });
    assert.equal(idsOf(latest), []);
    await record();
    assert.equal(idsOf(await list({ cursor: latest.cursor })), ["chg-6"]);
    await close();
  });
}

function undoneCases(test: Suite, of: SellerCase): void {
  test("a change that is rolled back is in no feed", async () => {
    const { list, record, close } = await world(of);
    const undone = new Error("undone");
    const seen = await record("creative", "acct-1", undone).catch((error: unknown) => error);
    assert.is(seen, undone);
    assert.equal(idsOf(await list()), []);
    await close();
  });
}

function elsewhereCases(test: Suite, of: SellerCase): void {
  test("a change in a transaction of another database than the store's is refused, and is in no feed", async () => {
    const [ours, theirs] = [await world(of), await world(of)];
    const strayed = () =>
      of.within(theirs.store as never, (tx) =>
        ours.changes.record(
          {
            ...{ account: "acct-1", action: "updated", resource: { type: "creative", resource_id: "c" } },
            ...{ origin: { kind: "seller_system" }, repair: { task: "list_creatives" } },
          },
          tx,
        ),
      );
    const { code, where } = await thrownBy(strayed);
    assert.equal([code, where], ["transaction_invalid", "tx"]);
    for (const { list, record } of [ours, theirs]) {
      assert.equal(idsOf(await list()), []);
      await record();
      assert.is(idsOf(await list()).length, 1);
    }
    for (const one of [ours, theirs]) await one.close();
  });
}

function cursorCases(test: Suite, of: SellerCase): void {
  test("a cursor belongs to its caller, account and filter; an account nobody may read is none; one too old is told so", async () => {
    let now = Date.now();
    const { store, seller, list, record, close } = await world(of, { now: () => now });
    await record();
    const { cursor } = await list({ max_results: 1 });
    const codeOf = (page: Page) => [page.errors?.[0]?.code, page.errors?.[0]?.field];
    assert.equal(codeOf(await list({ cursor }, "buyer-2")), ["INVALID_REQUEST", "cursor"]);
    assert.equal(codeOf(await list({ cursor, account: { account_id: "acct-2" } })), ["INVALID_REQUEST", "cursor"]);
    assert.equal(codeOf(await list({ cursor, resource_types: ["creative"] })), ["INVALID_REQUEST", "cursor"]);
    assert.equal(codeOf(await list({ cursor: "nonsense" })), ["INVALID_REQUEST", "cursor"]);
    assert.equal(codeOf(await list({}, "nobody")), ["ACCOUNT_NOT_FOUND", "account"]);
    await record();
    now += 91 * DAY_MS;
    await record();
    await store.database.execute(`delete from adbind_account_changes where expires <= ${now}`);
    assert.equal(codeOf(await list({ cursor })), ["CURSOR_EXPIRED", "cursor"]);
    assert.equal(idsOf(await list()), ["chg-3"]);
    assert.ok(seller);
    await close();
  });
}

function awayCases(test: Suite, of: SellerCase): void {
  test("a receiver that was away reads the feed: each row is handled once, pushed before or after", async () => {
    const { list, record, close } = await world(of);
    const s = await setup({ release: eventRelease } as never);
    await s.receiver.expect({ route: "/hooks/account", sender: SELLER, kind: "account" });
    for (let times = 0; times < 3; times++) await record();
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
}

export function accountChangesCase(of: SellerCase): void {
  const test = suite(`${of.name}: account changes`);
  for (const cases of [readCases, undoneCases, elsewhereCases, cursorCases, awayCases]) cases(test, of);
  test.run();
}
