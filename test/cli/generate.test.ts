/** The command as a user runs it: exit codes, what is printed where. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

async function adbind(...args: string[]): Promise<Ran> {
  const command = [...fromSource, "cli/main.ts", ...args];
  try {
    return { code: 0, ...(await run("node", command, { cwd: root })) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ran;
    return { code, stdout, stderr };
  }
}

test("generate prints a line per release and exits 0", async () => {
  const { code, stderr } = await adbind("generate", writeRelease(smallRelease()), "--out", tempFolder());
  assert.is(code, 0);
  assert.match(stderr, /proto 1\.2\.3 +written +3 tools, 2 codes, 2 specialisms, \d+ files/);
});

test("a status that no arm is for is told on stderr by generate, with the command that lists every place", async () => {
  const strange = changedRelease((files) => {
    const { tools } = files["manifest.json"];
    for (const name of ["order_a", "order_b", "order_c", "order_d", "order_e"])
      tools[name] = { ...tools.list_orders, specialisms: [], deprecated_in: undefined };
    files["media-buy/list-orders-response.json"].properties.status = {
      enum: ["submitted", "working", "input-required", "completed", "failed", "canceled", "rejected", "on-hold"],
    };
    files["media-buy/list-orders-response.json"].required = ["status"];
  });
  const { code, stderr } = await adbind("generate", strange, "--out", tempFolder());
  assert.is(code, 0, stderr);
  assert.match(stderr, /written +8 tools/);
  assert.match(stderr, /^warning .*"on-hold", which no arm is for \[task-status\], 6 places/m);
  assert.match(stderr, /and 2 more \(adbind lint --all lists them\)/);
});

test("--json prints the result and nothing else on stdout", async () => {
  const { stdout } = await adbind("generate", writeRelease(smallRelease()), "--out", tempFolder(), "--json");
  const { ok, releases } = JSON.parse(stdout);
  assert.is(ok, true);
  assert.is(releases[0].outcome, "written");
});

test("a broken release exits 1 with file, pointer, rule and remedy on stderr, and nothing is written", async () => {
  const out = tempFolder();
  const broken = changedRelease((files) => {
    files["manifest.json"].tools.list_orders.protocol = "bazaar";
  });
  const { code, stderr } = await adbind("generate", broken, "--out", out);
  assert.is(code, 1);
  assert.match(stderr, /manifest\.json#\/tools\/list_orders\/protocol: .*\[manifest-schema\]\. Use one of "media-buy"/);
  assert.match(stderr, /nothing was written/);
  assert.is(existsSync(path.join(out, "1.2.3")), false);
});

test("--check exits 1 and lists what differs", async () => {
  const source = writeRelease(smallRelease());
  const { code, stderr } = await adbind("generate", source, "--out", tempFolder(), "--check");
  assert.is(code, 1);
  assert.match(stderr, /missing .*tools\/place-order\.ts/);
});

test("lint prints the table, and --json the findings", async () => {
  const source = writeRelease(smallRelease());
  const table = await adbind("lint", source);
  assert.is(table.code, 0);
  assert.match(table.stdout, /ok +idempotency-key/);
  assert.match(table.stdout, /warn exercised-tool/);
  const { stdout } = await adbind("lint", source, "--json");
  assert.is(JSON.parse(stdout).findings.length, 1);
});

test("what is not there is said, with what to do", async () => {
  const { code, stderr } = await adbind("generate", "/no/such/release");
  assert.is(code, 1);
  assert.match(stderr, /no such file or folder \(\/no\/such\/release\): name a release: a folder/);
  const pipe = await adbind("lint", "/dev/null");
  assert.equal([pipe.code, /neither a file nor a folder \(\/dev\/null\): name a release/.test(pipe.stderr)], [1, true]);
});

test("a wrong command line exits non-zero and points at --help", async () => {
  assert.is((await adbind("generat")).code, 2);
  assert.is((await adbind("generate")).code, 2);
  assert.match((await adbind("--version")).stdout, /^\d+\.\d+\.\d+$/m);
  assert.is((await adbind("--help")).code, 0);
  assert.match((await adbind("generate", "--help")).stdout, /Examples: adbind generate/);
});

test("the committed bindings are what the generator gives", async () => {
  const { code, stderr } = await adbind("generate", "manifests/3.0.0", "manifests/3.1.0", "--check");
  assert.is(code, 0, stderr);
  await run("node", ["--import", "tsx", "cli/dev/registry-types.ts", "--check"], { cwd: root });
});

test.run();
