/** One seller of three releases: one set of ports, one store, and each call answered in its caller's release. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behaviours } from "../../runtime/behaviours/index.js";
import { isJsonObject, type JsonObject, shortVersion } from "../../runtime/contract/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, publishedRelease } from "./behaving-seller.js";

/** Newest first. */
const three = ["3.2.4", "3.1.19", "3.0.26"] as const;
const there = three.every((version) => publishedReleases().some((release) => release.endsWith(`/${version}`)));
if (!there) console.log(`skipped: not all of ${three.join(", ")} are in ${corpus}`);

const DAY_MS = 86_400_000;
const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

async function sellerOfThree() {
  const [release, ...releases] = await Promise.all(three.map(publishedRelease));
  const validators = new Map(
    await Promise.all([release!, ...releases].map(async (one) => [one.version, await createValidator(one)] as const)),
  );
  const seller = await behavingSeller(three[0], ["sales_guaranteed"], {
    releases,
    validator: ({ version }) => validators.get(version)!,
  });
  /** A call pinned to a release; the answer must be one of that release's. */
  const ask = async (version: string, tool: string, args: JsonObject): Promise<JsonObject> => {
    const pin = shortVersion(version);
    const answer = (await seller.ask(tool, { adcp_version: pin, adcp_major_version: 3, ...args })) as JsonObject;
    assert.is(answer.adcp_version ?? pin, pin, `${tool} says which release it is answered in`);
    const judged = validators.get(version)!.arm(tool, "completed", answer);
    assert.ok(judged.ok, `${tool} of ${version}: ${judged.ok ? "" : JSON.stringify(judged.errors.slice(0, 3))}`);
    return answer;
  };
  const order = async (version: string): Promise<string> => {
    const found = await ask(version, "get_products", { buying_mode: "brief", brief: "Outdoor", brand, account });
    const [product] = found.products as [JsonObject];
    const [option] = product.pricing_options as [JsonObject];
    const { product_id } = product;
    const line = { product_id, pricing_option_id: option.pricing_option_id, budget: 20_000 };
    const asked = { ...key(), account, brand, start_time: day(2), end_time: day(32), packages: [line] };
    return (await ask(version, "create_media_buy", asked)).media_buy_id as string;
  };
  return { seller, ask, order };
}

if (there) {
  // One for all: what three releases are validated by is compiled once.
  const opened = sellerOfThree();
  test.after(async () => (await opened).seller.close());

  test("an order made in one release is read, changed and canceled in another", async () => {
    const { ask, order } = await opened;
    const made = new Map<string, string>();
    for (const version of three) made.set(version, await order(version));
    for (const version of three)
      for (const [maker, id] of made) {
        const { media_buys } = await ask(version, "get_media_buys", { account, media_buy_ids: [id] });
        const ids = (media_buys as JsonObject[]).map(({ media_buy_id }) => media_buy_id);
        assert.equal(ids, [id], `${maker} in ${version}`);
        await ask(version, "get_media_buy_delivery", { account, media_buy_ids: [id] });
      }
    for (const [at, maker] of three.entries()) {
      const other = three[(at + 1) % three.length]!;
      const change = { ...key(), account, media_buy_id: made.get(maker)!, canceled: true };
      const changed = await ask(other, "update_media_buy", change);
      const state = changed.media_buy_status ?? changed.status;
      assert.is(state, "canceled", `${maker} in ${other}`);
    }
  });

  test("each answer has what its release has, and nothing of another", async () => {
    const { ask, order } = await opened;
    const id = await order("3.2.4");
    const read = async (version: string) => {
      const { media_buys } = await ask(version, "get_media_buys", { account, media_buy_ids: [id] });
      return (media_buys as [JsonObject])[0];
    };
    assert.ok("available_actions" in (await read("3.2.4")), "of 3.1 and newer");
    assert.not("available_actions" in (await read("3.0.26")));
    const bought = await ask("3.0.26", "update_media_buy", { ...key(), account, media_buy_id: id, paused: true });
    assert.not("media_buy_status" in bought, "3.0 has the state of a buy in status");
    for (const version of three) {
      const said = await ask(version, "get_adcp_capabilities", {});
      const { supported_versions, major_versions } = said.adcp as JsonObject;
      assert.equal([supported_versions, major_versions], [["3.2", "3.1", "3.0"], [3]]);
      assert.equal(said.specialisms, ["sales-guaranteed"]);
    }
  });

  test("a creative is listed by what its caller's release knows formats by", async () => {
    const { ask } = await opened;
    const found = await ask("3.2.4", "get_products", { buying_mode: "brief", brief: "Outdoor", brand, account });
    const [product] = found.products as [JsonObject];
    const [{ format_option_id, v1_format_ref }] = product.format_options as [JsonObject];
    const [format_id] = v1_format_ref as [JsonObject];
    const image = { asset_type: "image", url: "https://cdn.acmeoutdoor.example/a.png", width: 300, height: 250 };
    const upload = (version: string, creative_id: string, more: object) =>
      ask(version, "sync_creatives", {
        ...{ ...key(), account },
        creatives: [{ creative_id, name: "A banner", assets: { image_main: image }, ...more }],
      });
    const ref = { scope: "product", format_option_id };
    await upload("3.0.26", "named", { format_id });
    await upload("3.2.4", "canonical", { format_kind: "image", format_option_ref: ref });
    await upload("3.2.4", "named_knowingly", { format_id });
    const listed = async (version: string) => {
      const { creatives } = await ask(version, "list_creatives", { account });
      const identity = ({ creative_id, format_id: named, format_kind }: JsonObject) => [
        creative_id,
        named,
        format_kind,
      ];
      return (creatives as JsonObject[]).map(identity).sort();
    };
    const kind = [undefined, "image"];
    const now = [
      ["canonical", ...kind],
      ["named", ...kind],
      ["named_knowingly", format_id, undefined],
    ];
    assert.equal(await listed("3.2.4"), now);
    assert.equal(await listed("3.1.19"), now);
    const before = now.map(([id]) => [id, format_id, undefined]);
    assert.equal(await listed("3.0.26"), before);
  });

  test("a webhook tells the operation as its release has it: registered, or embedded in the URL", async () => {
    const { seller, ask } = await opened;
    await seller.start();
    const arrived: JsonObject[] = [];
    const inbox = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      arrived.push(JSON.parse(Buffer.concat(chunks).toString()) as JsonObject);
      response.end();
    }).listen(0, "127.0.0.1");
    await once(inbox, "listening");
    const { port } = inbox.address() as AddressInfo;
    const later = async (version: string, more: object) => {
      const line = { product_id: "lifestyle_display_q2", pricing_option_id: "cpm_standard", budget: 60_000 };
      const push = { url: `http://127.0.0.1:${port}/webhooks/create_media_buy/op_of_${version}`, ...more };
      const asked = { ...key(), account, brand, start_time: day(2), end_time: day(32), packages: [line] };
      const pin = { adcp_version: shortVersion(version), adcp_major_version: 3 };
      const answer = await seller.ask("create_media_buy", { ...pin, ...asked, push_notification_config: push });
      assert.is(answer.status, "submitted", version);
    };
    await ask("3.2.4", "sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] });
    try {
      await later("3.0.26", {});
      await later("3.2.4", { operation_id: "op_registered" });
      await until(() => arrived.filter(({ status }) => status === "completed").length === 2);
    } finally {
      inbox.closeAllConnections();
      inbox.close();
    }
    const told = new Set(arrived.map(({ operation_id }) => operation_id));
    assert.equal([...told].sort(), ["op_of_3.0.26", "op_registered"]);
  });

  test("a pin is met or refused as the protocol has it", async () => {
    const { seller, ask } = await opened;
    const brief = { buying_mode: "brief", brief: "Outdoor", brand };
    for (const pin of ["4.0", "2.5", "3.2-rc.1", "next"]) {
      const { code, field, details } = (await seller.refused("get_products", { adcp_version: pin, ...brief })) as {
        code: string;
        field?: string;
        details?: JsonObject;
      };
      assert.equal([pin, code, field], [pin, "VERSION_UNSUPPORTED", "adcp_version"]);
      assert.ok(isJsonObject(details));
      assert.equal([details.supported_versions, details.supported_majors], [["3.2", "3.1", "3.0"], [3]]);
    }
    const newer = (await seller.ask("get_products", { adcp_version: "3.9", ...brief })) as JsonObject;
    assert.is(newer.adcp_version, "3.2", "what is newer is answered in the newest before it");
    const unpinned = (await seller.ask("get_products", brief)) as JsonObject;
    assert.is(unpinned.status, "completed", "without a pin, in the newest");
    const major = (await seller.ask("get_products", { adcp_major_version: 3, ...brief })) as JsonObject;
    assert.equal(
      [newer.adcp_version, major.adcp_version],
      ["3.2", undefined],
      "callers of 3.0 say no more than the major",
    );
    const [named] = major.products as [JsonObject];
    assert.ok("format_ids" in named && !("format_options" in named), "and get formats by name");
    const { code } = await seller.refused("list_products", { adcp_version: "3.0", adcp_major_version: 3 });
    assert.is(code, "UNSUPPORTED_FEATURE", "a tool of a newer release is not there in an older one");
    await ask("3.0.26", "get_products", brief);
  });

  test("a release that is newer than the one that claims are of is refused", async () => {
    try {
      await behavingSeller("3.1.19", ["sales_guaranteed"], { releases: [await publishedRelease("3.2.4")] });
      assert.unreachable();
    } catch (error) {
      const { code, where, remedy } = error as { code: string; where: string; remedy: string };
      assert.equal(
        [code, where, remedy],
        ["seller_option_invalid", "release", "give 3.2.4 as the release, and 3.1.19 in releases"],
      );
    }
  });

  test("releases that callers pin by one name are refused", async () => {
    const [release, other] = await Promise.all([publishedRelease("3.2.4"), publishedRelease("3.2.4")]);
    const twin = { ...other!, version: "3.2.3" };
    try {
      await behavingSeller("3.2.4", ["sales_guaranteed"], { release: release!, releases: [twin] });
      assert.unreachable();
    } catch (error) {
      const { code, where } = error as { code: string; where: string };
      assert.equal([code, where], ["seller_option_invalid", "releases"]);
    }
  });
}

/** Early patches close blocks that later ones leave open. */
const releasesThere = publishedReleases()
  .map((folder) => path.basename(folder))
  .filter((version) => version >= "3");
for (const version of cellsOf("ADBIND_CELLS=all ./run test test/behaviours/releases", releasesThere, 2))
  test(`${version}: a seller of every area says what it can do as its release has it`, async () => {
    const seller = await behavingSeller(version, [], { with: behaviours.map(({ area }) => area) });
    assert.is((await seller.ask("get_adcp_capabilities", {})).status ?? "completed", "completed");
    await seller.close();
  });

test.run();
