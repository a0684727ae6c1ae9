import { test } from "uvu";
import * as assert from "uvu/assert";
import { createRotation } from "../../runtime/buyer/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { capabilities, failing, order, scene, transports } from "./fixtures.js";

const withScene = async (
  options: Parameters<typeof scene>[0],
  job: (made: Awaited<ReturnType<typeof scene>>) => Promise<void>,
): Promise<void> => {
  const made = await scene(options);
  try {
    await job(made);
  } finally {
    await made.close();
  }
};

const buy = (id: string, more: object = {}) => ({ media_buy_id: id, status: "active", packages: [], ...more });

test("missed impairments are read from every page of the buys, and what is not told of is named", () =>
  withScene(
    {
      answer: ({ args }) => {
        const second = (args.pagination as { cursor?: string } | undefined)?.cursor === "2";
        return {
          payload: second
            ? { media_buys: [buy("b", { health: "ok" })], pagination: { has_more: false } }
            : {
                media_buys: [buy("a", { health: "impaired", impairments: [{ impairment_id: "i1" }] })],
                pagination: { has_more: true, cursor: "2" },
              },
        };
      },
    },
    async ({ buyer, calls }) => {
      const read = await buyer.reconcile({ kind: "impairments", media_buy_ids: ["a", "b", "c"] });
      assert.ok(read.ok);
      assert.equal(read.buys, [
        { media_buy_id: "a", health: "impaired", impairments: [{ impairment_id: "i1" }] },
        { media_buy_id: "b", health: "ok", impairments: [] },
      ]);
      assert.equal(read.missing, ["c"]);
      assert.equal(
        calls().map(({ tool }) => tool),
        ["get_media_buys", "get_media_buys"],
      );
    },
  ));

for (const [why, cursorOf] of [
  ["its agent never ends the list", (page: number) => String(page)],
  ["its agent gives the same pages again", (page: number) => String(page % 3)],
  ["its agent does not say where the rest is", () => undefined],
] as const)
  test(`half a state is not told for all of it, where ${why}`, () =>
    withScene(
      {
        answer: (_, page) => ({
          payload: { media_buys: [buy("a")], pagination: { has_more: true, cursor: cursorOf(page) } } as never,
        }),
      },
      async ({ buyer, calls }) => {
        const read = await buyer.reconcile({ kind: "state", tool: "get_media_buys", request: {} });
        assert.not(read.ok);
        assert.match(JSON.stringify(!read.ok && read.answer.data), "could not be read whole");
        assert.ok(calls().length <= 100);
      },
    ));

for (const [declared, asked] of [
  [["hourly"], "hourly"],
  [["daily"], null],
  [undefined, null],
] as const) {
  test(`missed reports are read at the granularity asked for where it is declared: ${declared ?? "none"}`, () =>
    withScene(
      {
        declares: capabilities({ reporting_capabilities: { windowed_pull_granularities: declared } }),
        answer: () => ({ payload: { media_buy_deliveries: [{ media_buy_id: "a" }], currency: "EUR" } }),
      },
      async ({ buyer, calls }) => {
        const read = await buyer.reconcile({
          kind: "delivery",
          media_buy_ids: ["a"],
          granularity: "hourly",
          start_date: "2026-01-01",
        });
        assert.ok(read.ok);
        assert.equal([read.granularity, calls()[0]?.args.time_granularity ?? null], [asked, asked]);
        assert.equal(read.missing, []);
      },
    ));
}

test("any state is read by its tool, and none is changed", () =>
  withScene({ answer: () => failing({ code: "REFERENCE_NOT_FOUND", message: "gone" }) }, async ({ buyer, calls }) => {
    const read = await buyer.reconcile({ kind: "state", tool: "get_property_list", request: { list_id: "l" } });
    assert.equal([read.ok, calls().length], [false, 1]);
    for (const tool of ["update_media_buy", "no_such_tool"]) {
      const error = await buyer.reconcile({ kind: "state", tool, request: {} }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof AdbindError && error.code === "buyer_option_invalid");
    }
    assert.is(calls().length, 1);
  }));

const OLD = "o".repeat(40);
const config = { url: "https://hooks.buyer.example/a", authentication: { schemes: ["HMAC-SHA256"], credentials: OLD } };

test("credentials are accepted before the seller has them, and retired after it acknowledged", () =>
  withScene(
    {
      answer: ({ args }, count) => {
        heard.push(JSON.stringify([args.media_buy_id, args.push_notification_config]));
        return count === 1
          ? failing({ code: "NOT_NOW", message: "no", recovery: "terminal" })
          : { payload: { status: "completed", media_buy_id: "mb1" } };
      },
    },
    async ({ buyer, calls, clock }) => {
      heard.length = 0;
      const events: string[] = [];
      const expiresAt = clock.ms + 3 * 86_400_000;
      let made = 0;
      const rotation = createRotation({
        ...{ buyer, mediaBuyId: "mb1", channel: "push_notification_config", config, expiresAt, now: () => clock.ms },
        lifetimeMs: 30 * 86_400_000,
        makeCredentials: () => `${++made}`.padEnd(40, "n"),
        accept: ({ next, previous }) =>
          void events.push(`accept ${next[0]} beside ${previous[0]}, ${calls().length} calls`),
        retire: (previous) => void events.push(`retire ${previous[0]}`),
      });
      assert.equal(await rotation.run(), { rotated: false, reason: "not_due" });
      clock.ms = rotation.dueAt;
      const failed = await rotation.run();
      assert.is(failed.rotated, false);
      const done = await rotation.run();
      assert.is(done.rotated, true);
      assert.equal(events, ["accept 1 beside o, 0 calls", "accept 1 beside o, 1 calls"]);
      const keys = calls().map(({ args }) => args.idempotency_key);
      assert.is(new Set(keys).size, 1, "a try that failed is repeated, not made anew");
      assert.match(heard[1]!, `"credentials":"${"1".padEnd(40, "n")}"`);
      assert.is(calls()[1]?.args.media_buy_id, "mb1");
      clock.ms += 299_000;
      await rotation.run();
      assert.is(events.length, 2);
      clock.ms += 2_000;
      await rotation.run();
      assert.is(events.at(-1), "retire o");
      assert.ok(rotation.dueAt > clock.ms);
    },
  ));
const heard: string[] = [];

test("a signed webhook has nothing to rotate", () => {
  const make = (): unknown =>
    createRotation({
      ...{ buyer: { call: () => Promise.reject() }, mediaBuyId: "m", channel: "reporting_webhook" },
      ...{ config: { url: "https://a.example" }, expiresAt: 0, lifetimeMs: 1e9, accept: () => {}, retire: () => {} },
    });
  assert.throws(make, (error: unknown) => error instanceof AdbindError && error.code === "buyer_option_invalid");
});

for (const kind of transports) {
  test(`${kind}: a push_notification_config of the caller's own goes where the transport has it`, () =>
    withScene(
      { kind, answer: () => ({ payload: { status: "submitted", task_id: "t1" } }) },
      async ({ buyer, calls }) => {
        const own = { url: "https://own.example/hook", operation_id: "mine" };
        const called = await buyer.tools.create_media_buy({
          ...(order as object),
          push_notification_config: own,
        } as never);
        assert.equal(calls()[0]?.push, own);
        assert.is("push_notification_config" in calls()[0]!.args, kind === "mcp");
        assert.is(called.answer.status, "submitted");
      },
    ));
}

test("an agent's claims are told by the release's ids", () =>
  withScene({ declares: capabilities({ specialisms: ["sales-guaranteed"] }) }, async ({ buyer }) => {
    assert.equal([await buyer.claims("sales_guaranteed"), await buyer.claims("sales_catalog_driven")], [true, false]);
  }));

test.run();
