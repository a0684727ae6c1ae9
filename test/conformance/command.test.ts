/** The command as a user has it: what a failed step prints to run it alone again does just that. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";
import { smallAgent } from "./small-agent.js";

const root = path.resolve(import.meta.dirname, "../..");

/** Runs the command of a line that the report has printed, or any other. */
function adbind(words: readonly string[]): Promise<{ code: number | null; out: string }> {
  const flags = [...fromSource, "--conditions=adbind-source"];
  const child = spawn(process.execPath, [...flags, "cli/main.ts", ...words], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out })));
}

const storyboard = `
id: own
phases:
  - id: p
    steps:
      - {id: good, task: get_products, validations: [{check: field_present, path: products}]}
      - {id: bad, task: get_products, validations: [{check: field_value, path: count, value: 2}]}
      - {id: worse, task: get_products, validations: [{check: field_value, path: count, value: 3}]}
`;

test("the command of a failed step runs it alone again", async () => {
  const answer = smallAgent({ get_products: () => ({ products: [], count: 1 }) });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const made = await answer("http://agent.example", { body: Buffer.concat(chunks).toString() });
    response.writeHead(made.status, { "content-type": "application/json" }).end(await made.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const suite = mkdtempSync(path.join(tmpdir(), "adbind-suite-"));
  mkdirSync(path.join(suite, "universal"));
  writeFileSync(path.join(suite, "universal/own.yaml"), storyboard);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const release = path.join(root, "manifests/3.1.0");
    const first = await adbind(["conform", url, "--suite", suite, "--release", release, "--timeout", "20"]);
    assert.is(first.code, 1, first.out);
    assert.match(first.out, "steps: 1 passed, 2 failed, 0 skipped, 0 not graded, 0 faulty");
    const again = /again: adbind (.*--step bad.*)/.exec(first.out)?.[1];
    assert.ok(again, first.out);
    const second = await adbind(again.split(" "));
    assert.is(second.code, 1);
    assert.match(second.out, "FAIL own/bad");
    assert.match(second.out, "steps: 0 passed, 1 failed, 0 skipped, 0 not graded, 0 faulty");
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(suite, { recursive: true, force: true });
  }
});

test("what the command line names and is not there is no failed step", async () => {
  const release = path.join(root, "manifests/3.1.0");
  const url = "https://agent.example/mcp";
  for (const words of [
    ["--suite", path.join(tmpdir(), "nowhere"), "--release", release],
    ["--suite", release, "--release", release],
    ["--release", path.join(tmpdir(), "nowhere")],
  ]) {
    const { code, out } = await adbind(["conform", url, ...words]);
    assert.is(code, 2, out);
    assert.match(out, /cannot be read|nowhere/);
  }
});

test.run();
