/** Secrets of webhooks that calls register, on every store: sealed while their task goes on, and there when it makes a media buy. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { buyRequest, call } from "./fixture.js";
import { push, type SellerCase, storeSuite } from "./store-suite.js";

const DAY = 86_400_000;
const credentials = (name: string): string => `${name}-0c5d29f1b7a84e63d2f09a71c8b3e4f5`;
const hmac = (name: string) => ({ schemes: ["HMAC-SHA256"], credentials: credentials(name) });

export function heldCase(of: SellerCase): void {
  const test = storeSuite(of, "secrets of tasks");
  test("what a call registers for its media buy is kept sealed with its task, and opens with the buy", async (context) => {
    const { seller, other, sender, network, clock, bench, store } = context;
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.gate = promise;
    const order = buyRequest("prod_later", {
      push_notification_config: { ...push, token: "token-of-the-task", authentication: hmac("push") },
      reporting_webhook: {
        url: "https://buyer.example/reports",
        reporting_frequency: "daily",
        token: "token-of-reports",
        authentication: hmac("reports"),
      },
    });
    const { task_id: task } = await call(seller, "create_media_buy", order);
    const [unfinished] = await other.unfinished();
    assert.is(unfinished!.id, task);
    const kept = JSON.stringify([unfinished, await rowsOf(store, "adbind_seller_tasks")]);
    for (const secret of [credentials("push"), credentials("reports"), "token-of-the-task", "token-of-reports"])
      assert.not.match(kept, secret);
    resolve();
    await until(() => network.sent.some(({ body }) => body.status === "completed"));
    const id = network.sent.at(-1)!.body.result.media_buy_id as string;
    await sender.channels.impairment(id, { notificationId: "i", eventType: "fraud", impairment: {} });
    clock.at += DAY;
    await sender.channels.tick();
    await until(() => network.sent.some(({ body }) => body.task_type === "media_buy_delivery"));
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const names = async (): Promise<string[]> =>
      (await rowsOf(store, "adbind_sender_secrets")).map(({ registration }) => JSON.parse(registration as string)[0]);
    // A day after its task has ended nothing needs them.
    clock.at += DAY;
    await until(async () => !(await names()).includes("reporting"));
    assert.ok((await names()).includes("channel"));
    const told = network.sent.map(({ url, body, headers }) => [url, body.token, "x-proto-signature" in headers].join());
    assert.equal([...new Set(told)].sort(), [
      `${push.url},token-of-the-task,true`,
      "https://buyer.example/reports,token-of-reports,true",
    ]);
  });

  test.run();
}

async function rowsOf(store: { database: unknown }, table: string): Promise<Record<string, unknown>[]> {
  const { database } = store as { database: { query: (work: unknown) => Promise<Record<string, unknown>[]> } };
  return database.query((q: { rows: (text: string, values: unknown[]) => unknown }) =>
    q.rows(`select * from ${table}`, []),
  );
}
