/** `adbind conform` as a user runs it: exit codes, the closing line, forms, and what is at hand. */
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { serveSoundAgent } from "../conformance/sound-agent.js";
import { fromSource } from "../runner/from-source.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { cut } from "../support/mutate-release.js";
import { tempFolder, writeRelease } from "../support/release.js";
import { tls } from "../support/tls-terminator.js";

const root = path.resolve(import.meta.dirname, "../..");
/** What the suites below ask: of a whole release every run of the command would read five hundred files. */
const there = publishedReleases().length > 0;
const release = there ? writeRelease(cut(path.join(corpus, "releases/3.0.26"), ["get_adcp_capabilities"])) : "";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const adbind = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const argv = [...fromSource, "cli/main.ts", "conform", ...args];
    const options = { cwd: root, env: { ...process.env, ADBIND_CORPUS: "", ...env } };
    execFile("node", argv, options, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });

const storyboard = (value: string): string => `id: small
prerequisites: {}
phases:
  - id: only
    steps:
      - id: capabilities
        task: get_adcp_capabilities
        expected: Say that you sell media.
        sample_request: {context: {correlation_id: one}}
        validations:
          - {check: field_value, path: "supported_protocols[0]", value: ${value}, description: It sells media}
          - {check: nobody_knows_this, description: A kind of tomorrow}
          - {check: field_present, path: nothing, severity: advisory, description: Nice to have}
      - id: known
        task: get_adcp_capabilities
        validations: [{check: field_value, path: supported_protocols, value: [media_buy, creative]}]
`;

/** A suite without an index: everything in it is run. */
function suiteOf(value: string): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "universal"));
  writeFileSync(path.join(folder, "universal/small.yaml"), storyboard(value));
  writeFileSync(path.join(folder, "bundle-manifest.json"), '{"published_version":"3.0.26"}');
  return folder;
}

test("a step that fails: exit code 1, the closing line last, and a check of an unknown kind is named, not passed", async () => {
  const agent = await serveSoundAgent();
  const good = await adbind([agent.url, "--suite", suiteOf("media_buy"), "--release", release, "--all"]);
  const bad = await adbind([agent.url, "--suite", suiteOf("signals"), "--release", release]);
  await agent.close();
  assert.is(good.code, 0, good.stdout + good.stderr);
  assert.match(good.stdout, "not graded: nobody_knows_this, 1 times");
  assert.match(
    good.stdout.trimEnd().split("\n").at(-1)!,
    "steps: 1 passed, 0 failed, 0 skipped, 1 not graded, 0 faulty",
  );
  assert.is(bad.code, 1);
  assert.match(bad.stdout, "at /supported_protocols/0, expected signals, got media_buy");
  assert.match(bad.stdout, "required: Say that you sell media.");
  assert.match(
    bad.stdout.trimEnd().split("\n").at(-1)!,
    "steps: 1 passed, 1 failed, 0 skipped, 0 not graded, 0 faulty",
  );
});

test("one form at a time: JSON is the whole report, JUnit is XML", async () => {
  const agent = await serveSoundAgent();
  const suite = suiteOf("media_buy");
  const json = await adbind([agent.url, "--suite", suite, "--release", release, "--json"]);
  const two = await adbind([agent.url, "--suite", suite, "--release", release, "--json", "--html"]);
  await agent.close();
  assert.is(JSON.parse(json.stdout).counts.passed, 1);
  assert.equal([two.code, /two forms/.test(two.stderr)], [2, true]);
});

function emptyCorpus(): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "compliance/3.0.26"), { recursive: true });
  return folder;
}

test("what the command line leaves open is found in the corpus, and what is not at hand ends with 2", async () => {
  const agent = await serveSoundAgent();
  const folder = tempFolder();
  for (const name of ["releases", "compliance"]) mkdirSync(path.join(folder, name));
  symlinkSync(release, path.join(folder, "releases/3.0.26"));
  symlinkSync(suiteOf("media_buy"), path.join(folder, "compliance/3.0.26"));
  const found = await adbind([agent.url], { ADBIND_CORPUS: folder });
  const both = await adbind([agent.url, "--suite", suiteOf("media_buy"), "--release", "3.0.26"], {
    ADBIND_CORPUS: folder,
  });
  assert.is(both.code, 0, `a version of the corpus, with a suite: ${both.stderr}`);
  const none = await adbind([agent.url]);
  const gone = await adbind([agent.url], { ADBIND_CORPUS: path.join(folder, "gone") });
  const empty = await adbind([agent.url], { ADBIND_CORPUS: emptyCorpus() });
  const wrong = await adbind([agent.url, "--suite", suiteOf("x"), "--release", release, "--storyboard", "nobody"]);
  await agent.close();
  assert.match(found.stdout, "by the suite of 3.0.26 and the schemas of adcp 3.0.26");
  assert.equal([none.code, /no suite is at hand/.test(none.stderr)], [2, true]);
  assert.match(none.stderr, "$ADBIND_CORPUS is not set");
  assert.match(gone.stderr, `${path.join(folder, "gone/compliance")} of $ADBIND_CORPUS is not there`);
  assert.match(empty.stderr, /no folder of \S+compliance is named by a version that \S+releases holds too/);
  assert.equal([wrong.code, /the suite has no storyboard nobody/.test(wrong.stderr)], [2, true]);
});

test("what a stranger answers instead is told in one short line, and none of it reaches the terminal as it is", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(500, { "content-type": "text/html" });
    response.end(`<html>\n\u001b[2Jall is well\n${"x".repeat(200_000)}</html>`);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const { code, stderr } = await adbind([url, "--suite", suiteOf("x"), "--release", release]);
  server.close();
  assert.is(code, 3);
  assert.match(
    stderr,
    /^adbind: the agent cannot be asked over mcp: .*check the URL, its transport and credentials\n$/,
  );
  assert.not.match(stderr, "\u001b");
  assert.ok(stderr.length < 600, `${stderr.length} characters`);
});

test("what HTTP said stands before what an agent wrote, and a certificate that nobody knows is said to be that", async () => {
  const refusing = createServer((_request, response) => void response.writeHead(401).end("no"));
  const secured = createTlsServer(tls, (_request, response) => void response.end());
  for (const server of [refusing, secured])
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = (server: Pick<typeof refusing, "address">): number => (server.address() as AddressInfo).port;
  const ask = (url: string, ...more: string[]) => adbind([url, "--suite", suiteOf("x"), "--release", release, ...more]);
  const refused = await ask(`http://127.0.0.1:${at(refusing)}/mcp`);
  const unknown = await ask(`https://localhost:${at(secured)}/mcp`);
  const junk = path.join(tempFolder(), "junk.pem");
  writeFileSync(junk, "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n");
  const wrong = await ask(`https://localhost:${at(secured)}/mcp`, "--ca", junk);
  for (const server of [refusing, secured]) server.close();
  assert.equal([refused.code, /over mcp: HTTP 401, /.test(refused.stderr)], [3, true], refused.stderr);
  assert.equal([unknown.code, /certificate.*\(--ca\)/.test(unknown.stderr)], [3, true], unknown.stderr);
  assert.equal(
    [wrong.code, /no certificates that can be read .*junk\.pem/.test(wrong.stderr)],
    [1, true],
    wrong.stderr,
  );
});

test("nobody there ends with 3", async () => {
  const { code, stderr } = await adbind(["http://127.0.0.1:9/mcp", "--suite", suiteOf("x"), "--release", release]);
  assert.equal([code, /the agent cannot be asked over mcp/.test(stderr)], [3, true]);
});

if (there) test.run();
