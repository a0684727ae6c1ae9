/** A clock that ran ahead, and is set right: nothing waits for times of the old one, on every store. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { NOW } from "./fixture.js";
import { drained, HOOK, HOUR, push, reopened, type SenderCase, suiteOf } from "./sender-suite.js";

const DAY = 24 * HOUR;
const reporting = { url: HOOK, reporting_frequency: "hourly" } as const;
const buys = ["late", "reported", "ended"].map((mediaBuyId) => ({ mediaBuyId, principal: "buyer-1" }));

function farCase(of: SenderCase): void {
  const test = suiteOf(of, "a clock that is set back");
  for (const restarted of [false, true])
    test(`what waited by the old clock goes by the right one${restarted ? ", after a restart" : ""}`, async (context) => {
      const { clock, network } = context;
      const periods: unknown[] = [];
      let late = true;
      const own = {
        reports: ({ mediaBuyId, notificationType, period }: Record<string, unknown>) => {
          if (late && mediaBuyId !== "reported") return { delayed: true, currency: "EUR" };
          const { start, end } = period as { start: number; end: number };
          if (!late) periods.push([mediaBuyId, notificationType, start - NOW, end - NOW]);
          return { currency: "EUR", media_buy_deliveries: [] };
        },
      } as never;
      await reopened(of, context, own);
      for (const buy of buys) await context.sender.channels.open(buy, { reporting });
      await context.sender.channels.open({ mediaBuyId: "changes", principal: "buyer-1" }, { events: push });
      clock.at = NOW + DAY;
      if (!restarted) context.sender.start();
      await context.sender.channels.close("ended");
      // One turn each time.
      for (let turn = 0; turn < 3; turn++) await context.sender.channels.tick();
      await context.sender.channels.impairment("changes", { notificationId: "i", impairment: {} });
      if (!restarted) await until(() => drained(context.sender));
      const before = network.sent.length;
      late = false;
      clock.at = NOW;
      if (restarted) (await reopened(of, context, own)).start();
      await until(
        async () =>
          (await of.rows("select * from adbind_coalescing where due > 0")).every(
            ({ due }) => Number(due) <= NOW + HOUR,
          ),
        "the change is nearer",
      );
      clock.at = NOW + HOUR;
      await until(() => periods.length === 3 && network.sent.some(({ body }) => body.notification_id === "i"));
      assert.equal(periods.sort(), [
        ["ended", "final", 0, HOUR],
        ["late", "scheduled", 0, HOUR],
        // What the old clock made of it was told by it.
        ["reported", "scheduled", 0, HOUR],
      ]);
      await until(() => drained(context.sender));
      assert.ok(network.sent.length > before);
    });
  test.run();
}

function momentCase(of: SenderCase): void {
  const test = suiteOf(of, "a clock that is a moment behind");
  test("a clock that is a moment behind another makes no second report of a moment", async (context) => {
    const { clock } = context;
    const periods: unknown[] = [];
    const own = {
      reports: ({ period }: { period: { start: number; end: number } }) => {
        periods.push([period.start - NOW, period.end - NOW]);
        return { currency: "EUR", media_buy_deliveries: [] };
      },
    } as never;
    await reopened(of, context, own);
    await context.sender.channels.open(buys[0]!, { reporting });
    clock.at = NOW + HOUR + 1;
    await context.sender.channels.tick();
    clock.at = NOW + HOUR - 300;
    const far = "insert into adbind_coalescing values ('none', 'x', 'n', 'impairment', '{}', 9000000000000000)";
    await of.corrupt(far, async () => undefined);
    (await reopened(of, context, own)).start();
    const isNear = ({ due }: Record<string, unknown>): boolean => Number(due) <= NOW + 2 * HOUR;
    await until(async () => (await of.rows("select due from adbind_coalescing")).every(isNear), "it has looked");
    clock.at = NOW + HOUR + 2;
    await context.sender.channels.tick();
    clock.at = NOW + 2 * HOUR;
    await context.sender.channels.tick();
    assert.equal(periods, [
      [0, HOUR],
      [HOUR, 2 * HOUR],
    ]);
  });
  test.run();
}

export function setBackCase(of: SenderCase): void {
  for (const cases of [farCase, momentCase]) cases(of);
}
