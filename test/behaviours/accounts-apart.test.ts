/** What buyers keep with a seller is an account's: another of theirs may use the same id, and takes nothing away. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AudienceChange } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const other = { brand: { domain: "other.example" }, operator: account.operator };
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
const order = (more: object = {}) => ({ ...key(), account, brand, ...until, packages: [line], ...more });
const member = (at: number, more: object = {}) => ({
  external_id: `u${at}`,
  hashed_email: String(at).padStart(64, "a"),
  ...more,
});
const banner = (creative_id: string, more: object = {}) => ({
  creative_id,
  name: creative_id,
  format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } },
  ...more,
});

type Line = Readonly<Record<string, unknown>>;

for (const version of versions) {
  test(`${version}: an audience of one account takes no members of another's, and does not end it`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["audiences"] });
    const sync = async (of: object, audiences?: object[]): Promise<Line[]> =>
      (await ask("sync_audiences", { ...key(), account: of, ...(audiences && { audiences }) })).audiences;
    await sync(account, [{ audience_id: "x", name: "X", add: [member(1), member(2)] }]);
    const [made] = await sync(other, [{ audience_id: "x", name: "Theirs", add: [member(3)] }]);
    assert.equal([made?.action, made?.total_uploaded_count], ["created", 1]);
    const [own] = await sync(account);
    assert.equal([own?.name, own?.total_uploaded_count], ["X", 2]);
    await sync(other, [{ audience_id: "x", delete: true }]);
    assert.equal([(await sync(other)).length, (await sync(account)).length], [0, 1]);
    const targeted = [{ ...line, targeting_overlay: { audience_include: ["x"] } }];
    await ask("create_media_buy", order({ packages: targeted }));
    const theirs = order({ account: other, brand: other.brand, packages: targeted });
    assert.is((await refused("create_media_buy", theirs)).field, "packages[0].targeting_overlay.audience_include[0]");
    await close();
  });

  test(`${version}: who knows an audience's people is told of a member's new e-mail`, async () => {
    const told: AudienceChange[] = [];
    const audiences = { change: async (one: AudienceChange) => void told.push(one) };
    const { ask, close } = await behavingSeller(version, [], { with: ["audiences"], ports: { audiences } });
    const sync = async (add: object[]): Promise<Line> =>
      (await ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "x", name: "X", add }] }))
        .audiences[0];
    await sync([member(1)]);
    const moved = member(1, { hashed_email: "b".repeat(64) });
    const changed = await sync([moved]);
    assert.equal([changed.action, changed.total_uploaded_count, told[1]?.add], ["updated", 1, [moved]]);
    assert.equal([(await sync([moved])).action, told.length], ["unchanged", 2]);
    await close();
  });

  test(`${version}: an event source stays with its account, and a catalogue is not another's of its id`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["events", "catalogs", "accounts"] });
    const sources = async (of: object, more: object = {}): Promise<Line[]> =>
      (await ask("sync_event_sources", { ...key(), account: of, ...more })).event_sources;
    await sources(account, { event_sources: [{ event_source_id: "px", name: "Ours" }] });
    const [refusal] = await sources(other, { event_sources: [{ event_source_id: "px", name: "Theirs" }] });
    assert.is(refusal?.action, "failed");
    assert.is((await sources(account))[0]?.name, "Ours");
    const catalog = (catalog_id: string) => ({ catalog_id, type: "product", items: [{ item_id: "1", title: "Shoe" }] });
    const catalogs = async (of: object, more: object = {}): Promise<Line[]> =>
      (await ask("sync_catalogs", { ...key(), account: of, ...more })).catalogs;
    await catalogs(account, { catalogs: [catalog("c"), catalog("d")] });
    const missing = { catalogs: [catalog("c")], delete_missing: true };
    const rehearsed = await catalogs(account, { ...missing, dry_run: true });
    assert.equal(
      rehearsed.map(({ action }) => action),
      ["unchanged", "deleted"],
    );
    assert.equal(
      (await catalogs(other, missing)).map(({ action }) => action),
      ["created"],
    );
    await catalogs(account, { ...missing, catalog_ids: ["c"] });
    assert.is((await catalogs(account)).length, 2, "what was not asked for by id is left as it is");
    const third = { brand: { domain: "third.example" }, operator: account.operator };
    await catalogs(third, { ...missing, dry_run: true });
    const { accounts } = await ask("list_accounts", {});
    assert.is(accounts.length, 2, "a rehearsal opens no account");
    await close();
  });

  test(`${version}: a creative stays with its account, and what is missing in a sync is archived`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const sync = async (creatives: object[], more: object = {}): Promise<Line[]> =>
      (await ask("sync_creatives", { ...key(), account, creatives, ...more })).creatives;
    const { media_buy_id, packages } = await ask("create_media_buy", order());
    const assignments = [{ creative_id: "c1", package_id: packages[0].package_id }];
    await sync([banner("c1"), banner("c2")], { assignments });
    const [taken] = await sync([banner("c1", { name: "Theirs" })], { account: other, validation_mode: "lenient" });
    assert.is(taken?.action, "failed");
    const whole = { delete_missing: true };
    const partial = { ...key(), account, creatives: [banner("c2")], creative_ids: ["c2"], ...whole };
    assert.is((await refused("sync_creatives", partial)).field, "delete_missing");
    const actions = (lines: Line[]) => lines.map(({ creative_id, action }) => [creative_id, action]);
    const [kept, gone] = [
      ["c2", "unchanged"],
      ["c1", "deleted"],
    ];
    assert.equal(actions(await sync([banner("c2")], { ...whole, dry_run: true })), [kept, gone]);
    assert.equal(actions(await sync([banner("c2")], whole)), [kept, gone]);
    assert.equal(actions(await sync([banner("c2")], whole)), [kept], "what is archived is archived once");
    const { creatives } = await ask("list_creatives", { filters: { statuses: ["archived"] } });
    assert.equal(
      creatives.map(({ creative_id }: Line) => creative_id),
      ["c1"],
    );
    const [buy] = (await ask("get_media_buys", { media_buy_ids: [media_buy_id] })).media_buys;
    if (version !== "3.0.26") assert.is(buy.impairments[0].resource_id, "c1");
    assert.is((await sync([banner("c1")]))[0]?.status, "approved", "sent again, it is wanted again");
    await close();
  });

  test(`${version}: an assignment has an outcome, of a creative that was not sent and in a rehearsal too`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const { packages } = await ask("create_media_buy", order());
    const [{ package_id }] = packages;
    const sync = async (assignments: object[], more: object = {}): Promise<Line[]> =>
      (await ask("sync_creatives", { ...key(), account, creatives: [banner("c1")], assignments, ...more })).creatives;
    const wanted = [
      { creative_id: "c1", package_id },
      { creative_id: "c1", package_id: "nowhere" },
      { creative_id: "nothing", package_id },
    ];
    for (const dry_run of [true, false]) {
      const [own, unknown] = await sync(wanted, { dry_run });
      assert.equal([own?.assigned_to, own?.assignment_errors], [[package_id], { nowhere: "no package nowhere" }]);
      assert.equal([unknown?.creative_id, unknown?.action], ["nothing", "failed"]);
      const { creatives } = await ask("list_creatives", {});
      assert.is(creatives.length, dry_run ? 0 : 1);
    }
    await close();
  });
}

test.run();
