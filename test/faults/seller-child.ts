/** A seller to be killed: buys for whoever asks, at once or later, and writes each down in its answer's transaction. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../runtime/db/types.js";
import { createSeller, openAuth } from "../../runtime/seller/index.js";
import { openStore } from "../../runtime/store/index.js";
import { newBench, sellerOptions } from "../seller/fixture.js";

const [url = "", log = "", epoch = "0"] = process.argv.slice(2);
const store = await openStore(url);
/** A minute goes by in two seconds: a dead owner's lease ends while somebody waits. */
const SPEED = 30;
/** When the run began: sellers share a clock. */
const began = Number(epoch);

const write = (tx: unknown, id: string, key: string): unknown =>
  (store.database as Database).within(tx, (q) => q.run("insert into bought (id, key) values (?, ?)", [id, key]));

const base = sellerOptions(newBench());
const seller = await createSeller({
  ...base,
  store: store as never,
  mode: "production",
  // Whoever asks is meant.
  auth: openAuth,
  now: () => began + (Date.now() - began) * SPEED,
  tools: {
    ...base.tools,
    create_media_buy: async (request, ctx) => {
      const key = ctx.idempotencyKey ?? "";
      appendFileSync(log, `${key}\n`);
      await sleep(Math.random() * 20);
      const id = `mb_${ctx.taskId}`;
      ctx.effect((tx) => write(tx, id, key) as never);
      const buy = { media_buy_id: id, confirmed_at: null, packages: [], revision: 1 };
      if (request.packages?.[0]?.product_id !== "prod_later") return ctx.complete(buy);
      return ctx.submitted({}, async (task) => {
        await sleep(Math.random() * 20);
        await task.complete(buy as never);
      });
    },
  },
});
const address = await seller.start();
// What a seller killed before it left behind.
for (const { id } of await seller.unfinished(0, 1_000)) {
  const end = seller.task(id).reject({ code: "SERVICE_UNAVAILABLE", message: "The seller was restarted." });
  await end.catch(() => undefined);
}
process.stdout.write(`${address}\n`);
// Whoever started it is gone: nothing is left behind.
process.stdin.once("end", () => process.exit()).resume();
