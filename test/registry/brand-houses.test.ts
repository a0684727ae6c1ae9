/** Which house a brand is told to belong to: the one whose own file lists it, and never one that the brand merely names. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { ResolvedBrand } from "../../runtime/registry/types.js";
import { crawl, NOW, sqliteEngine } from "./data-fixture.js";

const engine = sqliteEngine();
test.after(() => engine.stop());

/** A portfolio of big.example that lists a brand. */
const portfolio = (url: string) => ({
  house: { domain: "big.example", name: "Big House" },
  brands: [{ id: "one", names: [{ en: "One" }], url, keller_type: "sub_brand" }],
});

const brandAt = (url: string, file: Record<string, unknown>) => ({
  outcome: "present" as const,
  name: "One",
  document: { url, variant: "house_portfolio" as const, file, names: ["One"] },
});

type Found = Pick<
  ResolvedBrand,
  "house_domain" | "house_name" | "relationship_trust" | "claimed_house_domain" | "keller_type"
>;
const trusted: Found = {
  keller_type: "sub_brand",
  house_domain: "big.example",
  house_name: "Big House",
  relationship_trust: "inline",
};
const claimed: Found = { keller_type: "sub_brand", claimed_house_domain: "big.example" };

/** What is told of a house, once files were crawled. @param files domain -> where its brand file is */
async function told(domain: string, files: Readonly<Record<string, string>>): Promise<Found> {
  const data = createRegistryData(await engine.open(), { now: () => NOW });
  for (const [name, url] of Object.entries(files))
    await data.applyCrawl(crawl(name, {}, { brand: brandAt(url, portfolio(`https://${domain}/`)) }));
  const { canonical_id, canonical_domain, brand_name, source, names, brand_manifest, ...found } =
    (await data.resolveBrand(domain))!;
  assert.equal([canonical_id, canonical_domain, brand_name, source], [domain, domain, "One", "brand_json"]);
  assert.ok(names && brand_manifest);
  return found;
}

test("a house is trusted by its own file, at its own place or where its own pointer leads", async () => {
  const home = "https://big.example/.well-known/brand.json";
  assert.equal(await told("one.example", { "one.example": home }), trusted);
  assert.equal(await told("one.example", { "one.example": "https://www.big.example/brand.json" }), trusted);
  assert.equal(await told("big.example", { "big.example": "https://cdn.example/big.json" }), trusted, "of itself");
  const elsewhere = "https://cdn.example/big.json";
  assert.equal(await told("one.example", { "big.example": elsewhere, "one.example": elsewhere }), trusted);
});

test("a brand that writes a house's portfolio itself only claims the house", async () => {
  for (const url of [
    "https://thief.example/.well-known/brand.json",
    "https://cdn.example/thief.json",
    "https://big.example.thief.example/brand.json",
  ])
    assert.equal(
      await told("thief.example", { "big.example": "https://cdn.example/big.json", "thief.example": url }),
      claimed,
      url,
    );
});

test.run();
