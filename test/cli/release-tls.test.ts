/** A release by its name over TLS, with the command as a user runs it. No byte leaves this machine. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cleanUp, listen } from "../net/loopback-server.js";
import { fromSource } from "../runner/from-source.js";
import { sha256Of, smallBundle } from "../support/bundle.js";
import { tempFolder } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");

test.after(cleanUp);

const fixture = (name: string): string => path.join(root, "test/net/fixtures", name);

test("what was fetched once is there offline", async () => {
  const bundle = await smallBundle("3.1.19");
  const asked: string[] = [];
  const tls = {
    key: readFileSync(fixture("loopback-test-only.key.pem")),
    cert: readFileSync(fixture("loopback-test-only.cert.pem")),
  };
  const server = createServer(tls, (request, response) => {
    asked.push(request.url!);
    if (request.url === "/3.1.19.tgz.sha256") response.end(`${sha256Of(bundle)}  3.1.19.tgz\n`);
    else if (request.url === "/3.1.19.tgz") response.end(readFileSync(bundle));
    else response.writeHead(404).end();
  });
  const port = await listen(server);
  const out = tempFolder();
  const cache = tempFolder();
  const env = { ...process.env, XDG_CACHE_HOME: cache, NODE_EXTRA_CA_CERTS: fixture("loopback-test-only.cert.pem") };
  const source = `https://localhost:${port}/{version}.tgz`;
  const adbind = (...args: string[]) =>
    promisify(execFile)("node", [...fromSource, "cli/main.ts", ...args], {
      cwd: root,
      env,
    });
  const first = await adbind("generate", "ads@3.1.19", "--source", source, "--out", out);
  assert.match(first.stderr, /fetching https:\/\/localhost.*\n.*ads 3\.1\.19 +written/);
  assert.equal(asked, ["/3.1.19.tgz.sha256", "/3.1.19.tgz"]);
  server.close();
  server.closeAllConnections();
  const again = await adbind("generate", "ads@3.1.19", "--source", source, "--out", out);
  assert.match(again.stderr, /^ads 3\.1\.19 +unchanged/);
  const listed = JSON.parse((await adbind("releases", "list", "--json")).stdout);
  assert.equal(
    listed.releases.map(
      (row: { word: string; version: string; where: string }) => `${row.word}@${row.version} ${row.where}`,
    ),
    ["ads@3.1.19 cache", "proto@3.0.0 package", "proto@3.1.0 package"],
  );
  const refused = await thrownCommand(adbind("lint", "ads@3.1.20", "--source", source));
  assert.is(refused.code, 1);
  assert.match(refused.stderr, /cannot be fetched: .*try again, or get the bundle by other means/);
});

async function thrownCommand(running: Promise<unknown>): Promise<{ code: number; stderr: string }> {
  try {
    await running;
  } catch (error) {
    return error as { code: number; stderr: string };
  }
  throw new Error("the command went well");
}

test.run();
