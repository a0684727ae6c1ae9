/** `preview_creative` of what the library has, and of several at once. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

const format_id = { agent_url: "https://seller.example/mcp", id: "display_300x250" };
const assets = { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } };

for (const version of versions) {
  const seller = async () => {
    const opened = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["previews"] });
    const creatives = [{ creative_id: "c1", name: "One", format_id, assets }];
    await opened.ask("sync_creatives", { ...key(), account, creatives });
    return opened;
  };

  // Before 3.2 a creative's id says what a manifest is of.
  const byId = version >= "3.2";

  if (byId)
    test(`${version}: a creative of the library is drawn by its id, and another's is not known`, async () => {
      const { ask, refused, close } = await seller();
      const request = { request_type: "single", creative_id: "c1", output_format: "html" };
      const [drawn] = (await ask("preview_creative", request)).previews;
      assert.match(drawn.renders[0].preview_html, assets.image.url);
      // Drawn by the format that is asked for, not its own.
      const routed = await ask("preview_creative", { ...request, format_id: { ...format_id, id: "display_728x90" } });
      assert.is(routed.previews[0].renders[0].dimensions.width, 728);
      for (const [more, principal] of [
        [{ creative_id: "c2" }, "buyer"],
        [{ account: { brand: { domain: "other.example" }, operator: account.operator } }, "buyer"],
        [{}, "stranger"],
      ] as const)
        assert.is((await refused("preview_creative", { ...request, ...more }, principal)).field, "creative_id");
      await close();
    });

  test(`${version}: of several, one that has nothing to draw fails alone, and the others take what the call says of all`, async () => {
    const { ask, close } = await seller();
    const creative_manifest = { format_id, assets };
    const { results } = await ask("preview_creative", {
      request_type: "batch",
      output_format: "html",
      format_id: { ...format_id, id: "display_728x90" },
      requests: [
        { creative_manifest, creative_id: "of-this" },
        { creative_manifest: { format_id, assets: {} }, format_id },
        ...(byId ? [{ creative_id: "c1" }, { creative_id: "c2", format_id }] : []),
      ].map((one, index) => (byId && index === 0 ? { creative_manifest } : one)),
    });
    const wanted = byId ? [true, false, true, false] : [true, false];
    assert.equal(
      results.map(({ success }: { success: boolean }) => success),
      wanted,
    );
    assert.is(results[0].response.previews[0].renders[0].dimensions.width, 728);
    assert.match(results[0].response.previews[0].renders[0].preview_html, assets.image.url);
    await close();
  });
}

for (const version of versions)
  test(`${version}: previews of several targets say which of them they are of, whatever the manifest is named by`, async () => {
    const { ask, close } = await behavingSeller(version, ["creative_generative"]);
    const kinds = version === "3.0.26" ? [{ format_id }] : [{ format_id }, { format_kind: "image" }];
    const ids = ["display_300x250", "display_728x90"];
    const byName = { target_format_ids: ids.map((id) => ({ ...format_id, id })) };
    const byCapability = version >= "3.2" ? [{ target_capability_ids: ids }] : [];
    for (const of of kinds)
      for (const targets of [byName, ...byCapability]) {
        const request = { ...key(), creative_manifest: { ...of, assets }, include_preview: true, ...targets };
        const { preview } = await ask("build_creative", request);
        assert.equal(
          preview.previews.map((one: { format_id?: { id: string }; capability_id?: string }) =>
            "target_capability_ids" in targets ? one.capability_id : one.format_id?.id,
          ),
          ids,
        );
      }
    await close();
  });

const early = "3.1.0";
if (existsSync(path.join(corpus, "releases", early)))
  test(`${early}: a creative of a canonical kind is listed by the name of a format, where its list knows nothing else`, async () => {
    const { ask, close } = await behavingSeller(early, ["sales_non_guaranteed"]);
    const creatives = [{ creative_id: "c1", name: "One", format_kind: "image", assets }];
    await ask("sync_creatives", { ...key(), account, creatives });
    const [listed] = (await ask("list_creatives", {})).creatives;
    assert.is(listed.format_id.agent_url, "https://seller.example/mcp");
    await close();
  });

test.run();
