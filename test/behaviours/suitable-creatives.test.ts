/** Creatives run in what takes them: what is no spot is refused where spots are sold, whichever way it comes. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue } from "../../runtime/behaviours/index.js";
import { STANDARD_AGENT } from "../../runtime/behaviours/ports/example-formats.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { board, catalogue, image, long, product, short, standard, tile } from "./shown-creatives.js";

/** What takes what. */
const expected = {
  spots: ["short"],
  tiles: ["tile"],
  sound: [],
  anything: ["tile", "board", "short", "long"],
} as const;

for (const version of versions) {
  const packageOf = (product_id: string, more: object = {}) => ({
    ...{ product_id, pricing_option_id: "cpm", budget: 1_000, bid_price: 3, ...more },
  });
  const order = (packages: readonly object[]) => ({
    ...{ ...key(), account, brand, packages },
    ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  });
  const code = (size: boolean): string => {
    if (/^3\.[01]\./.test(version)) return "CREATIVE_REJECTED";
    return size && version === "3.2.4" ? "CREATIVE_SIZE_MISMATCH" : "CREATIVE_";
  };

  test(`${version}: a creative is assigned to packages whose product takes it, and to no others`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const all = [tile, board, short, long];
    for (const [id, taken] of Object.entries(expected)) {
      const { media_buy_id, packages } = await seller.ask("create_media_buy", order([packageOf(id)]));
      const { package_id } = packages[0];
      const assignments = all.map(({ creative_id }) => ({ creative_id, package_id }));
      for (const dry_run of [true, false]) {
        const request = { ...key(), account, creatives: all, assignments, ...(dry_run && { dry_run }) };
        const { creatives } = await seller.ask("sync_creatives", request);
        type Line = { creative_id: string; assigned_to?: string[]; assignment_errors?: Record<string, string> };
        const lines = creatives as Line[];
        // In a rehearsal nothing is known yet of what is new.
        if (dry_run && id === "spots") continue;
        const to = lines.filter(({ assigned_to = [] }) => assigned_to.includes(package_id));
        assert.equal(
          to.map(({ creative_id }) => creative_id),
          taken,
          id,
        );
        const refused = lines.filter(({ assignment_errors: wrong = {} }) => package_id in wrong);
        assert.is(refused.length, all.length - taken.length);
      }
      for (const { creative_id } of all) {
        const named = { creative_assignments: [{ creative_id }] };
        const update = { ...key(), account, media_buy_id, packages: [{ package_id, ...named }] };
        const takes = (taken as readonly string[]).includes(creative_id);
        if (takes) {
          await seller.ask("update_media_buy", update);
          await seller.ask("create_media_buy", order([packageOf(id, named)]));
          continue;
        }
        const wrongSize = id === "tiles" && creative_id === "board";
        for (const { code: told, field } of [
          await seller.refused("update_media_buy", update),
          await seller.refused("create_media_buy", order([packageOf(id, named)])),
        ]) {
          assert.ok(told.startsWith(code(wrongSize)), told);
          assert.is(field, "packages[0].creative_assignments[0]");
        }
      }
    }
    await seller.close();
  });

  test(`${version}: an order brings its creatives, and one that its product does not take is refused whole`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const brings = (id: string, ...creatives: object[]) => order([packageOf(id, { creatives })]);
    const { code: told, field } = await seller.refused("create_media_buy", brings("spots", short, tile));
    assert.ok(told.startsWith(code(false)), told);
    assert.is(field, "packages[0].creatives[1]");
    assert.equal((await seller.ask("list_creatives", { account })).creatives, []);
    await seller.ask("create_media_buy", brings("spots", short));
    // Who orders before he uploads is not asked what it will be.
    const early = order([packageOf("spots", { creative_assignments: [{ creative_id: "later" }] })]);
    await seller.ask("create_media_buy", early);
    await seller.close();
  });

  test(`${version}: what runs is sent again as it was, also where its product takes other formats by now`, async () => {
    let formats = ["video_standard_15s"];
    const changing = { ...catalogue, products: async () => [product("changing", formats)] };
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue: changing } });
    const sync = async (creative: object) =>
      (await seller.ask("sync_creatives", { ...key(), account, creatives: [creative] })).creatives[0].action;
    await seller.ask("create_media_buy", order([packageOf("changing", { creatives: [short] })]));
    formats = ["display_300x250_image"];
    assert.is(await sync({ ...short, name: "Renamed" }), "updated");
    assert.is(await sync({ ...long, creative_id: "short" }), "failed", "another spot");
    await seller.close();
  });

  test(`${version}: a bundle or a tag with an image for who cannot show it is no image`, async () => {
    const option = (format_kind: string) => ({ format_kind, format_option_id: format_kind, params: {} });
    const knowsBundles = !version.startsWith("3.0.");
    const kinds = [...(knowsBundles ? ["html5"] : []), "display_tag", "image"];
    const sold = kinds.map((kind) => ({ ...product(kind, []), more: { format_options: [option(kind)] } }));
    const ports = { catalogue: listedCatalogue(sold) };
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports });
    const backup_image = { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 };
    const url = "https://x.example/served";
    const shown = (creative_id: string, assets: object) => ({
      ...{ creative_id, name: creative_id, format_id: standard("homepage_tile") },
      assets: { backup_image, ...assets },
    });
    const creatives = [
      ...(knowsBundles ? [shown("html5", { html5_bundle: { asset_type: "zip", url, max_file_size_kb: 200 } })] : []),
      shown("display_tag", {
        tag_url: { asset_type: "url", ...(version === "3.2.4" && { url_type: "ad_request" }), url },
      }),
    ];
    for (const kind of kinds) {
      const { packages } = await seller.ask("create_media_buy", order([packageOf(kind)]));
      const assignments = creatives.map((one) => ({ ...one, package_id: packages[0].package_id }));
      const request = { ...key(), account, creatives };
      const named = assignments.map(({ creative_id, package_id }) => ({ creative_id, package_id }));
      const lines = (await seller.ask("sync_creatives", { ...request, assignments: named })).creatives;
      const taken = lines.filter((one: { assigned_to?: string[] }) => (one.assigned_to ?? []).length > 0);
      const ids = taken.map((one: { creative_id: string }) => one.creative_id);
      if (kind === "image") assert.is(ids.length, creatives.length, "their own backup");
      else assert.equal(ids, [kind], kind);
    }
    await seller.close();
  });

  test(`${version}: a package that chooses a size of a template takes creatives of that size alone`, async () => {
    const template = { ...product("any size", []), more: { format_ids: [standard("display_static")] } };
    const ports = { catalogue: listedCatalogue([template]) };
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports });
    const sized = (creative_id: string, width: number, height: number) => ({
      ...{ ...image(creative_id, width, height), format_id: standard("display_static", { width, height }) },
    });
    const brings = (creative: object) => {
      const format_ids = [standard("display_static", { width: 300, height: 250 })];
      return order([packageOf("any size", { format_ids, creatives: [creative] })]);
    };
    const { code: told } = await seller.refused("create_media_buy", brings(sized("board", 728, 90)));
    assert.ok(told.startsWith(code(true)), told);
    await seller.ask("create_media_buy", brings(sized("tile", 300, 250)));
    await seller.close();
  });

  test(`${version}: of one medium and size, an image is no HTML, and a tag is no film`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const html = {
      ...{
        creative_id: "html",
        name: "html",
        format_id: { agent_url: "https://other.example/mcp", id: "rich_300x250" },
      },
      assets: { markup: { asset_type: "html", content: "<b>Shoes</b>", width: 300, height: 250 } },
    };
    const assigned = async (product_id: string, creative: { creative_id: string }, more: object = {}) => {
      const { packages } = await seller.ask("create_media_buy", order([packageOf(product_id, more)]));
      const [{ package_id }] = packages;
      const assignments = [{ creative_id: creative.creative_id, package_id }];
      const request = { ...key(), account, creatives: [creative], assignments };
      const { creatives } = await seller.ask("sync_creatives", request);
      return creatives[0].assigned_to?.includes(package_id) ?? creatives[0].assignment_errors[package_id];
    };
    assert.is(await assigned("tiles", html), "product tiles takes image, and the creative is html5");
    assert.is(await assigned("tiles", tile), true);
    assert.is(await assigned("sizes", board), true);
    const narrowed = { format_ids: [{ agent_url: STANDARD_AGENT, id: "display_300x250_image" }] };
    assert.match(await assigned("sizes", board, narrowed), /has a size that product sizes does not take/);
    assert.is(await assigned("sizes", tile, narrowed), true);
    const brings = packageOf("sizes", { ...narrowed, creatives: [{ ...board, creative_id: "brought" }] });
    assert.is((await seller.refused("create_media_buy", order([brings]))).field, "packages[0].creatives[0]");
    await seller.close();
  });
}

/** Formats that the seller has not listed: what takes what. */
const unlisted = {
  takeover: ["tile", "board", "short", "static tile", "static board"],
  elsewhere: ["tile", "board", "short", "static tile", "static board"],
  template: ["tile", "static tile"],
  tiles: ["tile", "static tile"],
} as const;

for (const version of versions)
  test(`${version}: a format that nobody has listed is what its name says, and of one that says nothing nobody is refused`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const made = (size: readonly [number, number], of: ReturnType<typeof image>) => ({
      ...{ ...of, creative_id: `static ${of.creative_id}` },
      format_id: standard("display_static", { width: size[0], height: size[1] }),
    });
    const creatives = [tile, board, short, made([300, 250], tile), made([728, 90], board)];
    await seller.ask("sync_creatives", { ...key(), account, creatives });
    for (const [product_id, taken] of Object.entries(unlisted))
      for (const { creative_id } of creatives) {
        const line = { product_id, pricing_option_id: "cpm", budget: 1_000, bid_price: 3 };
        const order = {
          ...{ ...key(), account, brand, packages: [{ ...line, creative_assignments: [{ creative_id }] }] },
          ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
        };
        const takes = (taken as readonly string[]).includes(creative_id);
        if (takes) await seller.ask("create_media_buy", order);
        else assert.is((await seller.refused("create_media_buy", order)).field, "packages[0].creative_assignments[0]");
      }
    await seller.close();
  });

for (const version of versions.filter((one) => one >= "3.2" && !one.includes("beta")))
  test(`${version}: a tag for players that says it is of sound runs where sound is sold`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const { packages } = await seller.ask("create_media_buy", {
      ...{ ...key(), account, brand, start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
      packages: [{ product_id: "sound", pricing_option_id: "cpm", budget: 1_000, bid_price: 3 }],
    });
    const vast_tag = { asset_type: "vast", delivery_type: "url", url: "https://x.example/vast.xml" };
    const tag = { creative_id: "tag", name: "tag", format_kind: "audio_vast", assets: { vast_tag } };
    const assignments = [{ creative_id: "tag", package_id: packages[0].package_id }];
    const { creatives } = await seller.ask("sync_creatives", { ...key(), account, creatives: [tag], assignments });
    assert.equal(creatives[0].assigned_to, [packages[0].package_id], JSON.stringify(creatives));
    await seller.close();
  });

test.run();
