/** What changes at nearly the same time, on every store. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { NOW } from "./fixture.js";
import { noneOut, push, type SenderCase, suiteOf } from "./sender-suite.js";

export function coalescenceCase(of: SenderCase): void {
  const test = suiteOf(of, "coalescence");
  test("what changes on one buy at nearly the same time is one event under the newest one's id", async (context) => {
    const { sender, network, clock } = context;
    sender.start();
    for (const mediaBuyId of ["mb-1", "mb-2"])
      await sender.channels.open({ mediaBuyId, principal: "buyer-1" }, { events: push });
    const change = (mediaBuyId: string, notificationId: string, eventType?: string) =>
      sender.channels.impairment(mediaBuyId, { notificationId, impairment: {}, ...(eventType && { eventType }) });
    for (const id of ["i-1", "i-2", "i-3"]) await change("mb-1", id);
    await change("mb-2", "i-4");
    await change("mb-1", "f-1", "fraud");
    await change("mb-1", "f-2", "brand_safety");
    await until(() => network.sent.length === 2);
    await noneOut(sender);
    clock.at = NOW + 5 * 60_000;
    await sender.channels.tick();
    await until(() => network.sent.length === 4);
    const ids = network.sent.map(({ body }) => body.notification_id);
    assert.equal(
      [ids.slice(0, 2), ids.slice(2).sort()],
      [
        ["f-1", "f-2"],
        ["i-3", "i-4"],
      ],
    );
  });

  test("a flood of one principal's changes goes out in a turn, and others' are not behind it", async (context) => {
    const { sender, clock } = context;
    const flood = Array.from({ length: 150 }, (_, at) => ({ mediaBuyId: `mb-${at}`, principal: "buyer-1" }));
    for (const buy of flood) await sender.channels.open(buy, { events: push });
    const quiet = { mediaBuyId: "other", principal: "buyer-2" };
    await sender.channels.open(quiet, { events: push });
    for (const { mediaBuyId } of flood)
      await sender.channels.impairment(mediaBuyId, { notificationId: "i", impairment: {} });
    clock.at = NOW + 1_000;
    await sender.channels.impairment("other", { notificationId: "i", impairment: {} });
    clock.at = NOW + 6 * 60_000;
    await sender.channels.tick();
    const rows = await of.rows("select ordering_key from adbind_jobs order by id");
    const order = rows.map((row) => String(row.ordering_key));
    assert.is(order.length, flood.length + 1);
    assert.ok(order.indexOf("buy:other") < 8, `it is sent ${order.indexOf("buy:other")} others later`);
  });

  test.run();
}
