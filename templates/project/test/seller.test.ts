/** The seller as its callers see it: by the storyboards of its release where they are at hand, else tool by tool. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { freePort } from "adbind/testing";
import { cachedSuite, checkAgent, runConformance, textReport } from "adbind-cli/conformance";
import { release } from "#bindings";
import { openMySeller, specialisms } from "../src/seller.js";

const folder = mkdtempSync(path.join(tmpdir(), "seller-"));
const database = `sqlite:${path.join(folder, "seller.db")}`;
const port = await freePort();
const seller = await openMySeller({ database, baseUrl: `http://127.0.0.1:${port}`, mode: "development" });
const url = `${await seller.start({ port })}/mcp`;
after(async () => {
  await seller.close();
  rmSync(folder, { recursive: true });
});

// SUITE is a release's compliance folder, or its bundle.
const suite = process.env.SUITE ?? (await cachedSuite(release));

test("every tool of what it claims answers", async (t) => {
  const report = await checkAgent({ url, release, specialisms, mutating: true });
  if (report.missing.length > 0) t.diagnostic(`nobody answers: ${report.missing.join(", ")}`);
  const failed = report.tools.flatMap(({ tool, checks }) =>
    checks.filter(({ outcome }) => outcome === "failed").map(({ check, detail }) => `${tool}: ${check}: ${detail}`),
  );
  assert.deepEqual(failed, [], report.problem);
});

const none = `no storyboards of ${release.word}@${release.version} are in the cache, and SUITE names none`;
test("it keeps the storyboards of what it claims", { skip: suite === undefined && none }, async () => {
  const report = await runConformance({ url, release, suite: suite!, specialisms });
  assert.ok(report.ok, textReport(report));
});
