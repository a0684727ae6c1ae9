/** The life of an order on every line of releases. Answers are judged by the release's schemas. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { signedApprovals } from "../../runtime/behaviours/index.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const line = { product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget: 5000 };
const formatId = { agent_url: "https://seller.example/mcp", id: "video_30s" };
const creative = {
  creative_id: "spot",
  name: "Spot",
  format_id: formatId,
  assets: { video: { asset_type: "video", url: "https://cdn.example/s.mp4", width: 1920, height: 1080 } },
};
const controlled = { account: { ...account, sandbox: true } };

for (const version of versions) {
  test(`${version}: an order is booked, changed, reported, paused and canceled`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"]);
    const order = { ...key(), account, brand, ...flight, packages: [line] };
    const booked = await ask("create_media_buy", order);
    const id = booked.media_buy_id;
    const [{ package_id }] = booked.packages;
    assert.is(booked.media_buy_status ?? booked.status, "pending_creatives");
    assert.is((await ask("create_media_buy", order)).media_buy_id, id, "a repetition is the same order");

    const synced = await ask("sync_creatives", {
      ...key(),
      account,
      creatives: [creative],
      assignments: [{ creative_id: "spot", package_id }],
    });
    assert.equal(synced.creatives[0].assigned_to, [package_id]);
    const { creatives } = await ask("list_creatives", {});
    assert.is(creatives[0].status, "approved");

    const change = { packages: [{ package_id, budget: 6000 }] };
    const changed = await ask("update_media_buy", { ...key(), account, media_buy_id: id, ...change });
    assert.is(changed.affected_packages[0].budget, 6000);
    const paused = await ask("update_media_buy", { ...key(), account, media_buy_id: id, paused: true });
    assert.is(paused.media_buy_status ?? paused.status, "paused");

    const params = {
      media_buy_id: id,
      impressions: 1001,
      clicks: 7,
      reported_spend: { amount: 38.04, currency: "USD" },
    };
    await ask("comply_test_controller", { scenario: "simulate_delivery", params, ...controlled });
    const report = await ask("get_media_buy_delivery", { account, media_buy_ids: [id] });
    assert.is(report.media_buy_deliveries[0].totals.impressions, 1001);
    assert.is(report.media_buy_deliveries[0].by_package[0].spend, 38.04);

    const listed = await ask("get_media_buys", {
      account,
      media_buy_ids: [id],
      include_snapshot: true,
      include_history: 5,
    });
    assert.is(listed.media_buys[0].total_budget, 6000);
    assert.ok(listed.media_buys[0].history.length > 2);

    const canceled = await ask("update_media_buy", { ...key(), account, media_buy_id: id, canceled: true });
    assert.is(canceled.media_buy_status ?? canceled.status, "canceled");
    const again = await refused("update_media_buy", { ...key(), account, media_buy_id: id, canceled: true });
    assert.is(again.code, "NOT_CANCELLABLE");
    await close();
  });

  test(`${version}: a large guaranteed order waits for a signature, and is booked with it`, async () => {
    const opened = await behavingSeller(version, ["sales_guaranteed"]);
    const { ask, close, start } = opened;
    await start();
    const order = { ...key(), account, brand, ...flight, packages: [{ ...line, budget: 80_000 }] };
    const waiting = await ask("create_media_buy", order);
    assert.is(waiting.status, "submitted");
    const { media_buys: none } = await ask("get_media_buys", { account });
    assert.is(none.length, 0);
    await until(async () => (await ask("get_task_status", { task_id: waiting.task_id })).status === "completed");
    const { media_buys } = await ask("get_media_buys", { account });
    assert.is(media_buys.length, 1);
    await close();
  });
}

if (versions.length > 0) {
  const large = () => ({ ...key(), account, brand, ...flight, packages: [{ ...line, budget: 80_000 }] });
  // Nobody signs by himself here.
  const patient = { ports: { approvals: { ...signedApprovals(), signAfterMs: 3_600_000 } } };

  test("a person's decision books an order that waits, or rejects it", async () => {
    const { ask, decide, start, close } = await behavingSeller(versions[0]!, ["sales_guaranteed"], patient);
    await start();
    const [signed, refused] = [await ask("create_media_buy", large()), await ask("create_media_buy", large())];
    await decide({ principal: "buyer", taskId: signed.task_id, approved: true });
    await decide({ principal: "buyer", taskId: refused.task_id, approved: false, reason: "the brand is blocked" });
    const statusOf = async (task_id: string) => (await ask("get_task_status", { task_id })).status;
    await until(async () => (await statusOf(signed.task_id)) === "completed");
    assert.is(await statusOf(refused.task_id), "rejected");
    assert.is((await ask("get_media_buys", { account })).media_buys.length, 1);
    const again = { principal: "buyer", taskId: refused.task_id, approved: true };
    const fault = await decide(again).then(
      () => undefined,
      (error: { code: string }) => error.code,
    );
    assert.is(fault, "task_unknown");
    await close();
  });
}

test.run();
