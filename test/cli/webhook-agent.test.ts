/** A webhook verified knowing its sender's URL alone, against a seller that runs behind TLS, with the command as a user runs it. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readKeyFile } from "../../cli/key-file.js";
import { register as registerKeys } from "../../cli/keys.js";
import { register as registerWebhook } from "../../cli/webhook.js";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { fromSource } from "../runner/from-source.js";
import { certificate, withTlsSeller } from "../support/tls-seller.js";
import { commandFolder, runCommand } from "./run-command.js";

const test = suite("webhook verify --agent");
const place = commandFolder();
test.after(place.remove);

const main = path.resolve(import.meta.dirname, "../../cli/main.ts");
const keyIn = (file: string) => readKeyFile(place.at(file)).keys[0]!;

test.before(async () => {
  writeFileSync(place.at("body.json"), '{"idempotency_key":"k-1"}');
  for (const file of ["own.json", "strange.json"]) {
    await runCommand(registerKeys, ["generate", "--word", "proto", "--use", "webhook", "--out", file]);
    const signed = await runCommand(registerWebhook, [
      "sign",
      "body.json",
      "--url",
      "https://buyer.example/hook",
      "--key",
      file,
    ]);
    writeFileSync(place.at(`${file}.headers`), signed.out);
  }
});

/** What the command says of the body with the headers that a key made. */
function verify(headers: string, ...more: string[]) {
  const given = ["--url", "https://buyer.example/hook", "--headers", headers, "--body", "body.json", ...more];
  const env = { ...process.env, ADBIND_CWD: place.folder, NODE_EXTRA_CA_CERTS: certificate };
  return promisify(execFile)("node", [...fromSource, main, "webhook", "verify", ...given], { env });
}

/** What a command says that exits with 1. */
const refused = (command: Promise<{ stdout: string }>): Promise<{ readonly code: number; readonly stdout: string }> =>
  command.then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error) => error,
  );

test("a seller is believed over MCP and over A2A, a stranger is not, and this machine is reached only where it is asked for", async () => {
  const seller = { releases: [release as Release], host: "localhost", key: keyIn("own.json") };
  await withTlsSeller(seller, async (baseUrl) => {
    const of = (protocol: string) => ["--agent", `${baseUrl}/${protocol}`, "--release", "proto@3.1.0"];
    const believed = ["mcp", "a2a"].map((protocol) => verify("own.json.headers", ...of(protocol), "--local"));
    const stranger = refused(verify("strange.json.headers", ...of("mcp"), "--local"));
    const guarded = refused(verify("own.json.headers", ...of("mcp")));
    for (const { stdout, stderr } of await Promise.all(believed)) {
      assert.match(stdout, /accepted: signed by https:\/\/localhost:\d+\/(mcp|a2a)/);
      assert.is(stderr, "");
    }
    assert.match((await stranger).stdout, "webhook_signature_key_unknown");
    assert.match((await guarded).stdout, "refused at step 7");
  });
});

test.run();
