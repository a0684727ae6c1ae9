/** Sellers, buyers and receivers that are given a validator judge by it, and none of them loads ajv. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release } from "../../generated/3.1.0/index.js";
import { generate } from "../../generator/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import { bindRelease, createReceiver } from "../../runtime/receiver/index.js";
import { createSeller } from "../../runtime/seller/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { precompiled } from "../../runtime/validate/standalone.js";
import { fromSource } from "../runner/from-source.js";
import { newBench, sellerOptions } from "../seller/fixture.js";
import { userProject } from "../support/project.js";
import { tempFolder } from "../support/release.js";
import { codeOf } from "../support/thrown.js";

const root = path.resolve(import.meta.dirname, "../..");
const out = path.join(userProject(), "bindings");
await generate([path.join(root, "manifests/3.1.0")], { out, standalone: true });

/** What a process of its own found, and the modules outside ajv that asked for it. */
function inProcess(what: string): { result: unknown; askers: string[] } {
  const child = path.join(import.meta.dirname, "plugged-child.ts");
  const args = [...fromSource, child, what, path.join(out, "3.1.0")];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: root });
  assert.is(status, 0, stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

test("a receiver judges results by it, and ajv is not loaded", () => {
  assert.equal(inProcess("receiver"), { result: [200, "schema_mismatch"], askers: [] });
});

test("without one it compiles, and then ajv is: or the test above proves nothing", () => {
  const { result, askers } = inProcess("compiled");
  assert.equal(result, [200, "schema_mismatch"]);
  assert.ok(
    askers.some((file) => file.endsWith("runtime/validate/validator.ts")),
    askers.join(),
  );
});

/** The SDK of MCP and the HTTP server load ajv for schemas of their own; what counts is whether we do. */
const ours = (askers: readonly string[]): string[] => askers.filter((file) => file.startsWith("file:"));

for (const [what, expected] of [
  ["seller", "INVALID_REQUEST"],
  ["buyer", ["answer"]],
] as const) {
  test(`a ${what} judges by it, and does not ask for ajv`, () => {
    const { result, askers } = inProcess(what);
    assert.equal(result, expected);
    assert.equal(ours(askers), []);
  });
}

const some = precompiled({ get_products: { request: true, arms: {} } });

test("a validator that cannot serve is refused when the option is given", async () => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "s.db") });
  try {
    const seller = { ...sellerOptions(newBench()), store };
    const lacking = () => createSeller({ ...seller, validator: some });
    assert.is(await codeOf(lacking), "seller_option_invalid");
    const two = () => createSeller({ ...seller, releases: [release30], validator: some });
    assert.is(await codeOf(two), "seller_option_invalid");
    const agent = "https://seller.example/mcp";
    const buyer = async () => createBuyer({ release, releases: [release30], agent, validator: some });
    assert.is(await codeOf(buyer), "buyer_option_invalid");
    const fallback = (): void => {};
    const bound = [bindRelease(release, { fallback }), bindRelease(release30, { fallback })];
    const receiver = async () =>
      createReceiver({ store, releases: bound, senders: {}, publicUrl: "https://hooks.example", validator: some });
    assert.is(await codeOf(receiver), "receiver_option_invalid");
  } finally {
    await store.close();
  }
});

test.run();
