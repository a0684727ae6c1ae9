/** Ports are somebody's systems: what never answers, fails, or answers what cannot be used harms nobody beside. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type AdServer,
  exampleCreatives,
  exampleProducts,
  listedCatalogue,
  openAccounts,
  type Ports,
  plainPolicies,
} from "../../runtime/behaviours/index.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const never = (): Promise<never> => new Promise(() => undefined);
const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const packages = [{ product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 }];
const order = () => ({ ...key(), account, brand, ...flight, packages });
const nothing = async (): Promise<void> => undefined;
const booking: AdServer = {
  book: async (_, { idempotencyKey }) => ({ orderId: idempotencyKey }),
  ...{ change: nothing, pause: nothing, resume: nothing, cancel: nothing },
};

/** Timers of ports keep no process alive, and a seller without a server has nothing else. */
const alive = setInterval(() => undefined, 1_000);
test.after(() => clearInterval(alive));

const sellerOf = (version: string, ports: Partial<Ports>, more: object = {}) =>
  behavingSeller(version, ["sales_non_guaranteed"], { ports, ...more });

for (const version of versions) {
  test(`${version}: a port that never answers is given up, and its caller told to come again`, async () => {
    const review = never;
    const creatives = Object.freeze({ ...exampleCreatives, review, patienceMs: 50, upstream: true as const });
    const { refused, close } = await sellerOf(version, { creatives });
    const format_id = { agent_url: "https://seller.example/mcp", id: "display_300x250" };
    const image = { asset_type: "image", url: "https://cdn.example/b.png", width: 300, height: 250 };
    const uploads = [{ creative_id: "banner", name: "Banner", format_id, assets: { image } }];
    const told = await refused("sync_creatives", { ...key(), account, creatives: uploads });
    assert.is(told.code, "SERVICE_UNAVAILABLE");
    await close();
    const opened = await sellerOf(version, { creatives: { ...exampleCreatives, patienceMs: Number.NaN } }).then(
      () => "it opened",
      (error: Error) => error.message,
    );
    assert.match(opened, "ports.creatives.patienceMs");
  });

  test(`${version}: figures that nobody needs may fail, and those that are no amounts are not told`, async () => {
    let figures: unknown = "its own";
    const adServer: AdServer = {
      ...booking,
      delivery: async () => Promise.reject(new Error("the ad server's figures are away")),
    };
    const totals = { impressions: 1_000, clicks: 10, spend: 3, conversions: 0 };
    const { ask, refused, close } = await sellerOf(version, {
      adServer,
      reporting: {
        async delivery({ packageIds: [id] }) {
          await new Promise((done) => setTimeout(done, 20));
          return { [id!]: figures === "its own" ? totals : { ...totals, ...(figures as object) } };
        },
      },
    });
    const { media_buy_id } = await ask("create_media_buy", order());
    const asked = { account, media_buy_ids: [media_buy_id] };
    const answer = await ask("get_media_buy_delivery", asked);
    assert.is(answer.media_buy_deliveries[0].totals.spend, 3);
    for (const wrong of [{ spend: Number.NaN }, { spend: -1 }, { impressions: "12" }, { clicks: undefined }]) {
      figures = wrong;
      const { code, ...told } = await refused("get_media_buy_delivery", asked);
      assert.is.not(code, "INVALID_REQUEST", JSON.stringify([wrong, told]));
    }
    await close();
  });

  test(`${version}: an order that was booked without a name is no booking yet, and is told again`, async () => {
    let name: string | undefined;
    const keys = new Set<string>();
    const canceled: string[] = [];
    const { ask, start, close } = await sellerOf(version, {
      adServer: {
        ...booking,
        async book(_, { idempotencyKey }) {
          keys.add(idempotencyKey);
          return (name === undefined ? undefined : { orderId: name }) as { orderId: string };
        },
        cancel: async ({ orderId }) => void canceled.push(orderId),
      },
    });
    await start();
    const { status, task_id } = await ask("create_media_buy", order());
    assert.is(status, "submitted");
    name = "order-7";
    const task = { task_id, include_result: true };
    await until(async () => (await ask("get_task_status", task)).status === "completed");
    const { media_buy_id } = (await ask("get_task_status", task)).result;
    await ask("update_media_buy", { ...key(), account, media_buy_id, canceled: true });
    assert.equal([keys.size, canceled], [1, ["order-7"]]);
    await close();
  });

  test(`${version}: an approval, a review and an account that are none of those there are let nothing pass`, async () => {
    const said: { approval: unknown; review: unknown; account: object } = { approval: "no", review: "ok", account: {} };
    const booked: string[] = [];
    const { ask, refused, close } = await sellerOf(version, {
      adServer: { ...booking, book: async ({ mediaBuyId }) => ({ orderId: String(booked.push(mediaBuyId)) }) },
      approvals: { ask: async () => ({ decision: said.approval as "go" }) },
      creatives: { ...exampleCreatives, review: async () => said.review as "approved" },
      accounts: { ...openAccounts, open: async (one) => ({ ...one, ...said.account }) },
    });
    const format_id = { agent_url: "https://seller.example/mcp", id: "display_300x250" };
    const image = { asset_type: "image", url: "https://cdn.example/b.png", width: 300, height: 250 };
    const creatives = [{ creative_id: "banner", name: "Banner", format_id, assets: { image } }];
    const faults = async (tool: string, request: object): Promise<void> => {
      const { code } = await refused(tool, request);
      assert.ok(["CONFIGURATION_ERROR", "SERVICE_UNAVAILABLE"].includes(code), `${tool}: ${code}`);
    };
    await faults("create_media_buy", order());
    assert.equal(booked, []);
    await faults("sync_creatives", { ...key(), account, creatives });
    for (const wrong of [{ account_id: "crm-7" }, { status: "gold" }]) {
      said.account = wrong;
      await faults("create_media_buy", order());
    }
    Object.assign(said, { approval: "go", review: "approved", account: {} });
    await ask("create_media_buy", order());
    await ask("sync_creatives", { ...key(), account, creatives });
    assert.is(booked.length, 1);
    await close();
  });

  test(`${version}: an order that its ad server is silent about does not hold up the others`, async () => {
    let silent = true;
    const waiting = new Set<string>();
    let most = 0;
    const { ask, start, close } = await sellerOf(version, {
      adServer: {
        ...booking,
        patienceMs: 600,
        async book(_, { idempotencyKey }) {
          waiting.add(idempotencyKey);
          most = Math.max(most, waiting.size);
          if (silent) await new Promise((done) => setTimeout(done, 700));
          waiting.delete(idempotencyKey);
          return { orderId: idempotencyKey };
        },
      },
    });
    const wanted = [order(), order(), order()];
    for (const one of wanted) assert.is((await ask("create_media_buy", one)).status, "submitted");
    most = 0;
    await start();
    await until(async () => most > 1);
    silent = false;
    await until(async () => (await ask("get_media_buys", { account })).media_buys.length === wanted.length);
    await close();
  });

  test(`${version}: what is not there is unevaluated, though a port says null, and no other word passes content`, async () => {
    let status = "failed";
    const policy = { ...plainPolicies, registered: async () => null as never, content: async () => ({ status }) };
    const seller = await behavingSeller(version, ["content_standards"], { ports: { policy: policy as never } });
    const { standards_id } = await seller.ask("create_content_standards", {
      ...key(),
      scope: { languages_any: ["en"], description: "Acme" },
      registry_policy_ids: ["no_such_policy"],
      policies: [{ policy_id: "p", policy: "No violence.", enforcement: "must" }],
    });
    const assets = [{ type: "text", content: "A fight.", language: "en" }];
    const artifact = { property_rid: "01916f3a-9c4e-7000-8000-000000000010", artifact_id: "a", assets };
    const wanted = { ...key(), standards_id, artifact };
    const { verdict, features } = await seller.ask("calibrate_content", wanted);
    assert.equal([verdict, features.length], ["fail", 2], JSON.stringify(features));
    status = "fail";
    await seller.refused("calibrate_content", { ...wanted, ...key() });
    await seller.close();
  });

  test(`${version}: nothing is sold at a price that is no amount`, async () => {
    const sold = exampleProducts.find(({ product_id }) => product_id === "run_of_site_auction")!;
    for (const floor_price of [Number.NaN, -5, Number.POSITIVE_INFINITY]) {
      const pricing_options = sold.pricing_options.map((one) => ({ ...one, floor_price }));
      const { refused, close } = await sellerOf(version, {
        catalogue: listedCatalogue([{ ...sold, pricing_options }]),
      });
      const cheap = packages.map((one) => ({ ...one, bid_price: 0.01 }));
      const { code } = await refused("create_media_buy", { ...order(), packages: cheap });
      assert.ok(["CONFIGURATION_ERROR", "SERVICE_UNAVAILABLE"].includes(code), `${floor_price}: ${code}`);
      await close();
    }
  });
}

test.run();
