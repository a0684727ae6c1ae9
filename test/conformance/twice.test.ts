/** A development seller is run against again and again: what one run has left there changes nothing in the next. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ConformanceReport, loadSuite, runConformance } from "../../runtime/conformance/index.js";
import { ANONYMOUS } from "../../runtime/seller/auth.js";
import { behavingSeller, key } from "../behaviours/behaving-seller.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";

const cases = [
  { version: "3.0.26", specialism: "sales_non_guaranteed", storyboards: ["pagination_integrity_list_accounts"] },
  {
    version: "3.1.19",
    specialism: "sales_guaranteed",
    storyboards: ["media_buy_seller/provenance_enforcement", "media_buy_seller/dependency_impairment"],
  },
  { version: "3.2.0-beta.4", specialism: "sales_guaranteed", storyboards: ["media_buy_seller/provenance_enforcement"] },
] as const;

const taken = cellsOf(
  "ADBIND_CELLS=all ./run test test/conformance/twice",
  publishedReleases().length === 0 ? [] : cases.map(({ version }) => version),
  1,
);

const outcomes = ({ storyboards }: ConformanceReport): string[] =>
  storyboards.flatMap(({ id, steps }) =>
    steps.map(({ step, status, skip }) => `${id}/${step} ${skip?.reason ?? status}`),
  );

for (const { version, specialism, storyboards } of cases.filter((one) => taken.includes(one.version)))
  test(`${version}: a second run comes to what the first has come to`, async () => {
    const { release, documents, published } = await wholeRelease(version);
    const suite = await loadSuite(path.join(corpus, "compliance", version));
    const seller = await behavingSeller(version, [specialism]);
    try {
      const url = `${await seller.start({ port: 0 })}/mcp`;
      const run = () => runConformance({ url, release, documents, published, suite, storyboards, webhooks: false });
      const first = await run();
      assert.is(first.counts.failed, 0, JSON.stringify(first.storyboards, null, 1).slice(0, 4_000));
      assert.ok(first.counts.passed > 0);
      // Whatever the caller does between them.
      const accounts = ["a", "b", "c"].map((name) => ({
        ...{ brand: { domain: `${name}.example` }, operator: `${name}.example`, billing: "operator" },
      }));
      await seller.ask("sync_accounts", { ...key(), accounts }, ANONYMOUS);
      assert.equal(outcomes(await run()), outcomes(first));
    } finally {
      await seller.close();
    }
  });

test.run();
