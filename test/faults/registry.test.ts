/** The short form of `./run faults registry`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runCrawlFaults } from "./registry-crawls.js";
import { runImportFaults } from "./registry-imports.js";

test("registries are killed in the middle of crawls, and every crawl that was acknowledged is made", async () => {
  for (const ledger of await Promise.all([runCrawlFaults("sqlite", 4), runCrawlFaults("postgres", 4)])) {
    assert.equal(ledger.faults, [], ledger.engine);
    assert.ok(ledger.told > 10, `${ledger.told} were asked for`);
  }
});

test("an import is killed and goes on where it was, as if nothing had been", async () => {
  for (const ledger of await Promise.all([runImportFaults("sqlite", 2), runImportFaults("postgres", 2)]))
    assert.equal(ledger.faults, [], ledger.engine);
});

test.run();
