/** What a seller of behaviours on several databases does beside calls: it carries on what is unfinished, and serves pages. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AdServer, Order } from "../../runtime/behaviours/index.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import { LINES, linesOf, order, type SplitSellers, splitSellers, version } from "./behaviours-world.js";
import type { Ground } from "./databases.js";
import { buyers, going, THREE } from "./principal-world.js";

type Case = ReturnType<typeof suite>;

export function carriedOnCase(ground: Ground): void {
  const test = suite(`beside calls on several databases, ${ground.name}`);
  const sellers = splitSellers();

  carriedOn(test, ground, sellers);
  previewed(test, ground, sellers);
  test.after.each(() => sellers.close());
  test.after(() => ground.close());
  if (version !== undefined) test.run();
}

function carriedOn(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("an order whose ad server gave no answer is a task that is carried on, whichever database its caller is in", async () => {
    const asked = new Map<string, number>();
    const change = async (): Promise<void> => undefined;
    const book = async (_: Order, { idempotencyKey }: { readonly idempotencyKey: string }) => {
      asked.set(idempotencyKey, (asked.get(idempotencyKey) ?? 0) + 1);
      if (asked.get(idempotencyKey) === 1) throw new Error("connection reset");
      return { orderId: idempotencyKey };
    };
    const adServer: AdServer = { book, change, pause: change, resume: change, cancel: change };
    const seller = await sellers.open(await ground.fresh(3), { ports: { adServer } });
    await seller.start();
    const some = ["a", "b"].map((name) => buyers.find((one) => placeAmong(THREE, one) === name)!);
    for (const buyer of some) {
      const { status, task_id } = await seller.ask("create_media_buy", order(), buyer);
      assert.is(status, "submitted", buyer);
      const result = () => seller.ask("get_task_status", { task_id, include_result: true }, buyer);
      await until(async () => (await result()).status === "completed");
      assert.is((await linesOf(seller, (await result()).result.media_buy_id, buyer)).length, LINES);
    }
  });
}

function previewed(test: Case, ground: Ground, sellers: SplitSellers): void {
  test("a preview is served to everybody, whichever database its caller is in and whichever it is in", async () => {
    const urls = await ground.fresh(3);
    const [one, two] = [await sellers.open(urls), await sellers.open(urls)];
    const [buyer] = going as [string];
    const creative_manifest = {
      format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
      assets: { image: { asset_type: "image", url: "https://cdn.example/a.jpg", width: 300, height: 250 } },
    };
    const asked = { request_type: "single", output_format: "url", creative_manifest };
    const { previews } = await one.ask("preview_creative", asked, buyer);
    const { pathname } = new URL(previews[0].renders[0].preview_url);
    for (const { seller } of [one, two]) {
      const page = await seller.app.inject({ url: pathname });
      assert.equal([page.statusCode, page.body.includes("https://cdn.example/a.jpg")], [200, true]);
    }
  });
}
