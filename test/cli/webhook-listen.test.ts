/** `adbind webhook listen`, with what `send` and `replay` send it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as keys } from "../../cli/keys.js";
import { register as webhook } from "../../cli/webhook.js";
import { fromSource } from "../runner/from-source.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const { folder, at, remove } = commandFolder();
const root = path.join(import.meta.dirname, "../..");
const send = (...argv: string[]) => runCommand(webhook, ["send", ...argv, "--key", "keys.private.json", "--local"]);

const children: ChildProcess[] = [];
let target: Server | undefined;

interface Listening {
  readonly url: string;
  readonly child: ChildProcess;
  readonly said: () => string;
}

async function listen(...given: string[]): Promise<Listening> {
  const args = [...fromSource, path.join(root, "cli/main.ts"), "webhook", "listen", "--port", "0", ...given];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: root,
    env: { ...process.env, ADBIND_CWD: folder },
  });
  children.push(child);
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk;
  });
  await until(() => printed.includes("listening on "));
  return { url: /http:\/\/[\d.:]+\//.exec(printed)![0], child, said: () => printed };
}

test.before(async () => {
  await runCommand(keys, ["generate", "--word", "proto", "--out", "keys.private.json"]);
});
test.after(() => {
  for (const child of children) child.kill();
  target?.close();
  remove();
});

test("what send signs, listen verifies; what is altered or is no webhook it refuses, and says why", async () => {
  const { url, child, said } = await listen("--jwks", "keys.private.json", "--count", "3");
  assert.match((await send(`${url}hook`)).out, "HTTP 200");
  assert.match((await send(url, "--word", "other")).out, "webhook_signature_tag_invalid");
  writeFileSync(at("no-webhook.json"), '{"status":"bogus"}');
  assert.match((await send(url, "--body", "no-webhook.json")).out, "HTTP 400");
  await until(() => child.exitCode !== null);
  assert.match(said(), /^ {2}Signature-Input: sig1=/im);
  assert.match(said(), /^verified: .* of keys\.private\.json$/m);
  assert.match(said(), /^a webhook of kind task \(task-1, create_media_buy, working\), key /m);
  assert.match(said(), '"task_type": "create_media_buy"');
  assert.match(said(), "refused at step 3");
  assert.match(said(), "no webhook of kind task: missing_envelope_fields: idempotency_key, task_id");
  assert.match(said(), "answered 400");
});

test("what a key of another protocol signs is sent, verified and replayed under that protocol's word", async () => {
  await runCommand(keys, ["generate", "--word", "ads", "--use", "webhook", "--out", "ads.json"]);
  const { url, child, said } = await listen("--jwks", "ads.json", "--count", "2", "--keep", "ads");
  const sent = await runCommand(webhook, ["send", url, "--key", "ads.json", "--local"]);
  assert.match(sent.out, "HTTP 200", sent.out + sent.err);
  const again = await runCommand(webhook, ["replay", "ads/0001.http", "--to", url, "--key", "ads.json", "--local"]);
  assert.match(again.out, "HTTP 200", again.out + again.err);
  await until(() => child.exitCode !== null);
  assert.not.match(said(), "refused");
});

test("what arrives is kept, sent on as it came, and replayed", async () => {
  const arrived: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  target = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    arrived.push({ headers: request.headers, body });
    response.writeHead(arrived.length === 1 ? 202 : 200).end("taken");
  });
  await new Promise<void>((resolve) => target!.listen(0, "127.0.0.1", resolve));
  const to = `http://127.0.0.1:${(target.address() as AddressInfo).port}/inner`;
  const { url, child, said } = await listen("--keep", "kept", "--forward", to, "--count", "4");
  const body = '{ "odd":  "spacing" }';
  const headers = { authorization: "Bearer a-token-that-is-long-enough-to-hide", "content-type": "application/json" };
  assert.is((await fetch(`${url}hook`, { method: "POST", headers, body })).status, 202, said());
  assert.is((await fetch(url, { method: "POST", body: "x".repeat(1_048_577) })).status, 413);
  assert.is((await fetch(url, { method: "POST", body: "{}" })).status, 200);
  assert.is((await fetch(url)).status, 200, "a look at whether somebody listens is sent on too");
  await until(() => child.exitCode !== null);
  assert.equal([arrived[0]!.body, arrived[0]!.headers.authorization], [body, headers.authorization]);
  assert.match(said(), "Bearer (35 characters, hidden)");
  assert.not.match(said(), "long-enough-to-hide");
  assert.match(said(), `forwarded to ${to}: HTTP 202 taken`);
  assert.match(said(), "answered 413");
  const file = at("kept/0001.http");
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, "utf8"), /^POST \/hook HTTP\/1\.1\r\n[\s\S]*\r\n\r\n\{ "odd": {2}"spacing" \}$/);
  const again = await runCommand(webhook, [
    "replay",
    "kept/0001.http",
    "--to",
    to,
    "--local",
    "--key",
    "keys.private.json",
  ]);
  assert.equal([again.code, again.out], [0, "kept/0001.http: HTTP 200 taken\n"]);
  assert.is(arrived.at(-1)!.body, body);
  assert.match(String(arrived.at(-1)!.headers["signature-input"]), "created=");
  await new Promise((resolve) => target!.close(resolve));
  const gone = await runCommand(webhook, ["replay", "kept/0001.http", "--to", to, "--local"]);
  assert.equal([gone.code, /was not delivered/.test(gone.err)], [1, true]);
});

test.run();
