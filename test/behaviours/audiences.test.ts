/** Audiences of buyers: counted here, and told to whoever knows their people; and what a catalogue fills in a preview. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AudienceChange, VerifierFinding, VerifierQuestion } from "../../runtime/behaviours/index.js";
import { openDatabase } from "../../runtime/db/open.js";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";

const agentUrl = "https://seller.example/mcp";

for (const version of versions) {
  test(`${version}: each change of an audience is told once more under the same key, and nothing where nothing changed`, async () => {
    const told: (AudienceChange & { key: string })[] = [];
    let down = true;
    const audiences = {
      async change(audience: AudienceChange, { idempotencyKey }: { readonly idempotencyKey: string }) {
        told.push({ ...audience, key: idempotencyKey });
        if (down) throw new Error("nobody there");
      },
    };
    const { ask, refused, close } = await behavingSeller(version, [], { with: ["audiences"], ports: { audiences } });
    const add = [{ external_id: "u1", hashed_email: "a".repeat(64) }];
    const first = { ...key(), account, audiences: [{ audience_id: "walkers", name: "Walkers", add }] };
    await refused("sync_audiences", first);
    assert.equal(
      (await ask("sync_audiences", { ...key(), account })).audiences,
      [],
      "what nobody was told of is not there",
    );
    down = false;
    const { audiences: made } = await ask("sync_audiences", first);
    assert.equal([made[0].action, told.length, told[0]!.key], ["created", 2, told[1]!.key]);
    assert.equal(told[1]!.add, add);
    const { audiences: same } = await ask("sync_audiences", { ...first, ...key() });
    assert.equal([same[0].action, told.length], ["unchanged", 2]);
    await ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "walkers", delete: true }] });
    const { audience_id, seller_id, deleted, key: last } = told[2]!;
    assert.equal([audience_id, seller_id, deleted], ["walkers", made[0].seller_id, true]);
    assert.is.not(last, told[0]!.key);
    await close();
  });

  test(`${version}: a preview of what a catalogue fills has a page for each of its items, made safe`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["creatives", "catalogs"] });
    const items = ["a&b=c", "{GTIN}", "café"].map((sku, at) => ({ item_id: `i${at}`, title: `Item ${at}`, sku }));
    const catalogs = [{ catalog_id: "shoes", type: "product", items }];
    await ask("sync_catalogs", { ...key(), account, catalogs });
    const manifest = (catalog: object) => ({
      format_id: { agent_url: agentUrl, id: "display_300x250_catalog" },
      assets: {
        catalog: { asset_type: "catalog", type: "product", ...catalog },
        pixel: { asset_type: "url", url: "https://track.example/imp?sku={SKU}" },
      },
    });
    const drawn = async (catalog: object, more: object = {}): Promise<string[]> => {
      const request = { request_type: "single", output_format: "html", creative_manifest: manifest(catalog), ...more };
      const { previews } = await ask("preview_creative", request);
      return [...previews[0].renders[0].preview_html.matchAll(/imp\?sku=([^"]*)"/g)].map(([, sku]) => String(sku));
    };
    const safe = ["a%26b%3Dc", "%7BGTIN%7D", "caf%C3%A9"];
    assert.equal(await drawn({ catalog_id: "shoes" }), safe);
    assert.equal(await drawn({ catalog_id: "shoes" }, { item_limit: 2 }), safe.slice(0, 2));
    assert.equal(await drawn({ items: [{ item_id: "own", sku: "x/y" }] }), ["x%2Fy"]);
    assert.equal(await drawn({ catalog_id: "nobody's" }), ["{SKU}"]);
    await close();
  });
}

if (versions.length > 0)
  test("a verifier that one product lists is asked, though another product takes the creative whatever it says", async () => {
    const asked: VerifierQuestion[] = [];
    const provenance = {
      async verify(question: VerifierQuestion): Promise<VerifierFinding> {
        asked.push(question);
        return { feature_id: "ai_generated", value: true };
      },
    };
    const { ask, close } = await behavingSeller("3.1.19", [], {
      with: ["products", "creatives"],
      ports: { provenance },
    });
    const sandbox = { account: { ...account, sandbox: true } };
    const verify_agent = { agent_url: "https://verifier.example", feature_id: "ai_generated" };
    const policy = { provenance_required: true, accepted_verifiers: [verify_agent] };
    for (const [product_id, fixture] of [
      ["strict", { creative_policy: policy }],
      ["open", {}],
    ] as const)
      await ask("comply_test_controller", { ...sandbox, scenario: "seed_product", params: { product_id, fixture } });
    const image = { asset_type: "image", url: "https://cdn.example/a.png", width: 300, height: 250 };
    const creative = (creative_id: string, provenance: object) => ({
      ...{ creative_id, name: creative_id, format_id: { agent_url: agentUrl, id: "display_300x250" } },
      assets: { image },
      provenance,
    });
    const embedded_provenance = [{ method: "provenance_markers", provider: "P", verify_agent }];
    const named = { digital_source_type: "digital_capture", embedded_provenance };
    const creatives = [creative("named", named), creative("silent", { digital_source_type: "digital_capture" })];
    const { creatives: synced } = await ask("sync_creatives", { ...key(), account, creatives });
    assert.equal(
      synced.map(({ action }: { action: string }) => action),
      ["created", "created"],
    );
    assert.equal(
      asked.map(({ upload }) => upload.creative_id),
      ["named"],
    );
    await close();
  });

/** Rows of what audiences keep, and the bytes of the largest. */
async function keptOf(database: string): Promise<{ rows: number; largest: number }> {
  const opened = await openDatabase(database, { migrate: false });
  try {
    const text = `select count(*) as rows, coalesce(max(octet_length(body)), 0) as largest from adbind_documents
      where collection like 'audience%'`;
    const [row] = await opened.query((q) => q.rows<{ rows: number; largest: number }>(text));
    return row!;
  } finally {
    await opened.close();
  }
}

const people = (from: number, count: number, mail = "a") =>
  Array.from({ length: count }, (_, at) => ({ external_id: `u${from + at}`, hashed_email: mail.repeat(64) }));

for (const version of versions)
  test(`${version}: a large audience is kept in parts, of which a change reads and writes those it is about, and none is lost or counted twice`, async () => {
    const { databases, stop } = await bothEngines();
    for (const [engine, url] of Object.entries(databases)) {
      const database = await url();
      const { ask, close } = await behavingSeller(version, [], { with: ["audiences"], database });
      const sync = async (upload: object) => {
        const { audiences } = await ask("sync_audiences", {
          ...key(),
          account,
          audiences: [{ audience_id: "a", ...upload }],
        });
        return [audiences[0].action, audiences[0].total_uploaded_count];
      };
      assert.equal(await sync({ name: "A", add: people(0, 1_990) }), ["created", 1_990], engine);
      assert.is((await keptOf(database)).rows, 2);
      assert.equal(await sync({ add: people(1_980, 4_020) }), ["updated", 6_000]);
      assert.equal(await sync({ add: people(500, 1_000) }), ["unchanged", 6_000]);
      assert.equal(
        await sync({ add: people(0, 1, "b") }),
        ["updated", 6_000],
        "an e-mail that has changed is no other person",
      );
      assert.equal(await sync({ add: people(7_000, 2), remove: people(7_001, 1) }), ["updated", 6_001]);
      assert.equal(await sync({ remove: [...people(0, 100), ...people(9_000, 5)] }), ["updated", 5_901]);
      assert.equal(await sync({ add: people(0, 1, "b") }), ["updated", 5_902]);
      await Promise.all(Array.from({ length: 6 }, (_, at) => sync({ add: people(20_000 + at * 10, 10) })));
      assert.equal(await sync({ add: people(20_000, 60) }), ["unchanged", 5_962]);
      const { rows, largest } = await keptOf(database);
      assert.ok(rows === 65 && largest < 20_000, `${rows} rows, ${largest} bytes`);
      await sync({ delete: true });
      assert.equal(await keptOf(database), { rows: 0, largest: 0 });
      assert.equal(await sync({ add: people(0, 3) }), ["created", 3]);
      await close();
    }
    await stop();
  });

test.run();
