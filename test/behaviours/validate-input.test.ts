/** `validate_input`: a manifest beside canonical formats, products and capabilities, before anything is built or sent. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

const image = { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 };
const card = { asset_type: "card", media: image };
const manifest = { format_kind: "image", assets: { image_main: image } };

const zip = (required: boolean) => ({ asset_group_id: "html5_bundle", asset_type: "zip", required });

for (const version of versions) {
  const opened = (more: Partial<Parameters<typeof behavingSeller>[2]> = {}) =>
    behavingSeller(version, ["sales_non_guaranteed"], { with: ["manifests"], ...more });
  const seed = (more: object) => ({
    scenario: "seed_product",
    account,
    params: { product_id: "p1", fixture: { name: "P", description: "P", delivery_type: "guaranteed", ...more } },
  });

  if (version < "3.1") {
    test(`${version}: a release without the tool has none, though the area is asked for`, async () => {
      const { seller, close } = await opened();
      const call = {
        tool: "validate_input",
        args: { manifest },
        transport: "mcp",
        identity: { principal: "b" },
      } as const;
      assert.is((await seller.call(call)).failed, true);
      await close();
    });
    continue;
  }

  test(`${version}: each target has a verdict of its own, in their order, and nothing is kept`, async () => {
    const { ask, close } = await opened();
    const targets = [
      { kind: "canonical", id: "image" },
      { kind: "canonical", id: "html5" },
    ];
    const { results } = await ask("validate_input", { manifest, targets });
    assert.equal(results[0], { target: targets[0], result_kind: "validated_pass" });
    assert.is(results[1].result_kind, "validated_fail");
    assert.equal(results[1].violations[0], {
      ...{ rule: "format_kind", field: "format_kind" },
      ...{ expected: ["html5"], predicted: "image" },
    });
    assert.equal((await ask("list_creatives", { account })).creatives, []);
    await close();
  });

  test(`${version}: what is missing, of another type, too many or too few is told slot by slot`, async () => {
    const { ask, close } = await opened();
    const broken = async (format_kind: string, assets: object) => {
      const targets = [{ kind: "canonical", id: format_kind }];
      const { results } = await ask("validate_input", { manifest: { format_kind, assets }, targets });
      return (results[0].violations ?? []).map(({ rule, field }: Record<string, string>) => `${rule} ${field}`);
    };
    const text = { asset_type: "text", content: "Some words" };
    assert.equal(await broken("image", { headline: text }), ["required_slot assets.image_main"]);
    assert.equal(await broken("image", { image_main: text }), ["asset_type assets.image_main.asset_type"]);
    assert.equal(await broken("image_carousel", { cards: [card] }), ["min assets.cards"]);
    assert.equal(await broken("image_carousel", { cards: Array(11).fill(card) }), ["max assets.cards"]);
    assert.equal(await broken("image_carousel", { cards: [card, card] }), []);
    await close();
  });

  test(`${version}: a product's own declaration bounds what a manifest may be; what is made by chance cannot be judged before`, async () => {
    const { ask, close } = await opened();
    const option = (id: string, params: object) => ({ format_option_id: id, format_kind: "image", params });
    await ask(
      "comply_test_controller",
      seed({
        format_options: [
          option("small", { width: 300, height: 250, headline_max_chars: 5, max_file_size_kb: 100 }),
          option("drawn", { synthesis_nondeterministic: true }),
        ],
      }),
    );
    const targets = [{ kind: "product", id: "p1" }];
    const of = async (id: string, assets: object) => {
      const ref = { scope: "product", format_option_id: id };
      const { results } = await ask("validate_input", {
        manifest: { format_kind: "image", format_option_ref: ref, assets },
        targets,
      });
      const { result_kind: kind, violations = [] } = results[0];
      return [
        kind,
        ...violations.map(({ rule, field, predicted }: Record<string, string>) => [rule, field, predicted]),
      ];
    };
    assert.equal(await of("small", { image_main: image }), ["validated_pass"]);
    assert.equal(await of("small", { image_main: { ...image, width: 600, height: 500, pixel_ratio: 2 } }), [
      "validated_pass",
    ]);
    const headline = { asset_type: "text", content: "Too long" };
    assert.equal(await of("small", { image_main: { ...image, width: 728, file_size_bytes: 100_001 }, headline }), [
      "validated_fail",
      ["width", "assets.image_main.width", 728],
      ["max_file_size_kb", "assets.image_main.file_size_bytes", 100.001],
      ["headline_max_chars", "assets.headline", 8],
    ]);
    assert.equal(await of("drawn", { image_main: image }), ["unvalidatable_nondeterministic"]);
    assert.equal((await of("drawn", {}))[0], "validated_fail");
    assert.equal(await of("other", { image_main: image }), [
      "validated_fail",
      ["format_option_ref", "format_option_ref.format_option_id", "other"],
    ]);
    await close();
  });

  test(`${version}: what is not there is refused by its place in the request, and definitions of others are not fetched`, async () => {
    const { refused, close } = await opened();
    const target = async (kind: string, id: string) => {
      const targets = [
        { kind: "canonical", id: "image" },
        { kind, id },
      ];
      const { code, field } = await refused("validate_input", { manifest, targets });
      return [code, field];
    };
    assert.equal(await target("canonical", "hologram"), ["FORMAT_NOT_SUPPORTED", "targets[1].id"]);
    assert.equal(await target("product", "none"), ["PRODUCT_NOT_FOUND", "targets[1].id"]);
    const other = await target("third_party_format", "https://169.254.169.254/f@sha256:00");
    assert.equal(other, ["FORMAT_NOT_SUPPORTED", "targets[1].id"]);
    await close();
  });

  test(`${version}: a creative is held to what a product declares for itself, and where nothing takes its kind to that`, async () => {
    const { ask, close } = await opened();
    const mine = { format_option_id: "mine", format_kind: "html5", params: { slots: [zip(true)] } };
    await ask("comply_test_controller", seed({ format_options: [mine] }));
    const bundle = { asset_type: "zip", url: "https://x.example/b.zip" };
    const one = (creative_id: string, format_kind: string, assets: object, more: object = {}) => ({
      ...{ creative_id, name: creative_id, format_kind, assets, ...more },
    });
    const format_option_ref = { scope: "product", format_option_id: "mine" };
    const creatives = [
      one("fits", "html5", { html5_bundle: bundle }, { format_option_ref }),
      one("picture", "html5", { html5_bundle: image }, { format_option_ref }),
      one("cards", "image_carousel", { cards: [card, card] }),
      one("card", "image_carousel", { cards: [card] }),
    ];
    const synced = await ask("sync_creatives", { ...key(), account, creatives, validation_mode: "lenient" });
    assert.equal(
      synced.creatives.map(({ action, errors = [] }: { action: string; errors?: { field: string }[] }) => [
        action,
        ...errors.map(({ field }) => field.replace(/^creatives\[\d\]\./, "")),
      ]),
      [["created"], ["failed", "assets.html5_bundle.asset_type"], ["created"], ["failed", "assets.cards"]],
    );
    await close();
  });

  test(`${version}: a creative without what its canonical format needs is not taken into the library`, async () => {
    const { ask, close } = await opened();
    const format_option_ref = { scope: "product", format_option_id: "display_300x250" };
    const one = (creative_id: string, assets: object) => ({
      ...{ creative_id, name: creative_id, format_kind: "image", format_option_ref, assets },
    });
    const creatives = [
      one("whole", { image_main: image }),
      one("empty", {}),
      one("large", { image_main: { ...image, width: 728, height: 90 } }),
    ];
    const { creatives: synced } = await ask("sync_creatives", {
      ...key(),
      account,
      creatives,
      validation_mode: "lenient",
    });
    assert.equal(
      synced.map(({ creative_id, action }: Record<string, string>) => [creative_id, action]),
      [
        ["whole", "created"],
        ["empty", "failed"],
        ["large", "failed"],
      ],
    );
    assert.match(synced[1].errors[0].field, /assets\.image_main$/);
    assert.match(synced[2].errors[0].field, /assets\.image_main\.width$/);
    await close();
  });
}

test.run();
