/** `adbind webhook`: what one signs the other accepts, and a refusal names its step. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as registerKeys } from "../../cli/keys.js";
import { register } from "../../cli/webhook.js";
import { fromSource } from "../runner/from-source.js";
import { commandFolder, runCommand } from "./run-command.js";

const URL_ = "https://buyer.example/hook?x=%7e";
let place: ReturnType<typeof commandFolder>;
test.before(async () => {
  place = commandFolder();
  await runCommand(registerKeys, ["generate", "--word", "proto", "--out", "k.json", "--kid", "k1"]);
  writeFileSync(place.at("jwks.json"), (await runCommand(registerKeys, ["jwks", "k.json"])).out);
  writeFileSync(place.at("body.json"), '{"idempotency_key":"e1","é":"ü"}');
});
test.after(() => place.remove());

const webhook = (...argv: string[]) => runCommand(register, argv);
const sign = (...extra: string[]) => webhook("sign", "body.json", "--url", URL_, "--key", "k.json", ...extra);
const verify = (...argv: string[]) => webhook("verify", ...argv, "--jwks", "jwks.json");

/** A request file as a proxy would log it. */
const httpFile = async (
  name: string,
  change: (headers: string) => string = (headers) => headers,
  body = "body.json",
) => {
  const headers = change((await sign()).out.trimEnd());
  const head = `POST /hook?x=%7e HTTP/1.1\nHost: buyer.example\n${headers}`.replaceAll("\n", "\r\n");
  writeFileSync(place.at(name), Buffer.concat([Buffer.from(`${head}\r\n\r\n`), readFileSync(place.at(body))]));
  return name;
};

test("sign prints headers; verify accepts them, from a raw request or from parts", async () => {
  const { out } = await sign();
  assert.equal(
    out
      .trim()
      .split("\n")
      .map((line) => line.split(":")[0]),
    ["Content-Type", "Content-Digest", "Signature-Input", "Signature"],
  );
  const raw = await verify(await httpFile("ok.http"));
  assert.is(raw.code, 0);
  assert.match(raw.out, '"@target-uri": https://buyer.example/hook?x=%7e\n');
  assert.match(raw.out, "accepted: signed by jwks.json with k1 (ed25519)");
  writeFileSync(place.at("headers"), out);
  const parts = await verify("--headers", "headers", "--body", "body.json", "--url", URL_);
  assert.is(parts.code, 0);
  assert.is(
    (await webhook("verify", "ok.http", "--jwks", "k.json")).code,
    0,
    "a private file stands for its public half",
  );
});

test("options of sign reach the signature", async () => {
  const { out, err } = await sign("--created", "1776520800", "--nonce", "AAAAAAAAAAAAAAAAAAAAAA", "--base");
  assert.match(out, 'created=1776520800;expires=1776521100;nonce="AAAAAAAAAAAAAAAAAAAAAA";keyid="k1"');
  assert.match(err, /^"@method": POST\n"@target-uri": https:/);
  writeFileSync(place.at("old"), out);
  const parts = ["--headers", "old", "--body", "body.json", "--url", URL_];
  assert.is((await verify(...parts, "--now", "1776520900")).code, 0);
  const late = await verify(...parts);
  assert.is(late.code, 1);
  assert.match(late.out, "refused at step 5: webhook_signature_window_invalid");
  assert.match(late.out, "--now");
  assert.match((await sign("--word", "acme")).out, 'tag="acme/webhook-signing/v1"');
});

test("a key says of which protocol it is, so that nobody has to: sign and verify go by it", async () => {
  await runCommand(registerKeys, ["generate", "--word", "ads", "--use", "webhook", "--out", "ads.json"]);
  const { out } = await webhook("sign", "body.json", "--url", URL_, "--key", "ads.json");
  assert.match(out, 'tag="ads/webhook-signing/v1"');
  writeFileSync(place.at("ads-headers"), out);
  const parts = ["--headers", "ads-headers", "--body", "body.json", "--url", URL_, "--jwks", "ads.json"];
  const believed = await webhook("verify", ...parts);
  assert.is(believed.code, 0, believed.out + believed.err);
  assert.match((await webhook("verify", ...parts, "--word", "proto")).out, "refused at step 3");
});

test("the curl line is one shell command with the same headers", async () => {
  const { out } = await sign("--curl");
  const script = `curl() { for arg; do printf '%s\\n' "$arg"; done; }\n${out}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script]);
  const args = stdout.trim().split("\n");
  assert.equal(args.filter((arg) => /^(Content|Signature)/.test(arg)).length, 4);
  assert.ok(args.includes("@body.json"));
  assert.is(args.at(-1), URL_);
});

/** Another one, whatever it begins with. */
const otherNonce = (headers: string): string =>
  headers.replace(/nonce="(.)/, (_, first: string) => `nonce="${first === "_" ? "-" : "_"}`);

test("each kind of damage is refused at its step, with the base and a hint", async () => {
  writeFileSync(place.at("newline.json"), `${readFileSync(place.at("body.json"), "utf8")}\n`);
  writeFileSync(place.at("other.json"), "{}");
  const damages: [string, (headers: string) => string, string, number | string, RegExp][] = [
    [
      "no signature",
      (headers) => headers.replace(/^Signature: .*$/m, "X-Nothing: 1"),
      "body.json",
      1,
      /header_malformed/,
    ],
    ["no nonce", (headers) => headers.replace(/;nonce="[^"]*"/, ""), "body.json", 2, /missing: nonce/],
    ["tag", (headers) => headers.replace("proto/webhook", "proto/request"), "body.json", 3, /tag_invalid/],
    ["alg", (headers) => headers.replace('alg="ed25519"', 'alg="rsa"'), "body.json", 4, /alg_not_allowed/],
    ["components", (headers) => headers.replace('"@method" ', ""), "body.json", 6, /components_incomplete/],
    ["key", (headers) => headers.replace('keyid="k1"', 'keyid="k2"'), "body.json", 7, /key_unknown/],
    ["signature", otherNonce, "body.json", 10, /line by line/],
    ["newline", (headers) => headers, "newline.json", 11, /line break that was not sent/],
    ["body", (headers) => headers, "other.json", 11, /the digest of these 2 bytes is/],
  ];
  for (const [name, change, body, step, text] of damages) {
    const { out, code } = await verify(await httpFile(`${name}.http`, change, body));
    assert.is(code, 1, name);
    assert.match(out, `refused at step ${step}: `, name);
    assert.match(out, text, name);
    assert.match(out, new RegExp(`^FAIL +${step} `, "m"), name);
    if (step !== 1) assert.match(out, '"@signature-params": (', name);
  }
});

test("the public URL goes before the one a proxy saw", async () => {
  const file = await httpFile("proxied.http");
  const text = readFileSync(place.at(file), "latin1")
    .replace("Host: buyer.example\r\n", "")
    .replace("/hook", "/internal/hook");
  writeFileSync(place.at(file), text, "latin1");
  assert.is((await verify(file)).code, 2);
  assert.is((await verify(file, "--url", URL_)).code, 0);
  const elsewhere = await verify(await httpFile("moved.http"), "--url", "https://other.example/hook");
  assert.match(elsewhere.out, '"@target-uri": https://other.example/hook\n');
  assert.match(elsewhere.out, "refused at step 10: webhook_target_uri_malformed");
});

test("the newest key signs unless another is asked for", async () => {
  await runCommand(registerKeys, ["generate", "--word", "proto", "--out", "two.json", "--kid", "first"]);
  await runCommand(registerKeys, ["rotate", "two.json", "--kid", "second"]);
  const signed = (...extra: string[]) => webhook("sign", "body.json", "--url", URL_, "--key", "two.json", ...extra);
  assert.match((await signed()).out, 'keyid="second"');
  assert.match((await signed("--kid", "first")).out, 'keyid="first"');
});

test("wrong arguments are told", async () => {
  assert.is((await verify()).code, 2);
  assert.is((await webhook("verify", "ok.http")).code, 2);
  assert.is((await webhook("verify", "ok.http", "--jwks", "jwks.json", "--agent", "https://a.example")).code, 2);
  assert.is((await verify("body.json")).code, 1);
  assert.is((await verify("none.http")).code, 1);
  assert.is((await verify("ok.http", "--now", "yesterday")).code, 2);
  assert.is((await sign("--kid", "k9")).code, 1);
  assert.is((await webhook("sign", "body.json", "--url", URL_, "--key", "jwks.json")).code, 1);
  for (const name of ["sign", "verify"])
    assert.match((await webhook(name, "--help")).out, `Example: adbind webhook ${name}`);
});

test("the command itself signs and sends as a user runs it", async () => {
  const main = path.resolve(import.meta.dirname, "../../cli/main.ts");
  const args = [...fromSource, main, "webhook", "verify", "ok.http", "--jwks", "jwks.json"];
  const { stdout } = await promisify(execFile)("node", args, { env: { ...process.env, ADBIND_CWD: place.folder } });
  assert.match(stdout, "accepted");
});

const vectors = path.join(process.env.ADBIND_CORPUS ?? "../shared", "vectors/webhook-signing");
test("published vectors, as request files, have the outcome they say", async () => {
  if (!existsSync(vectors)) return console.log("skipped: no corpus");
  const jwks = path.resolve(vectors, "keys.json");
  let count = 0;
  for (const folder of ["positive", "negative"]) {
    for (const name of readdirSync(path.join(vectors, folder))) {
      const file = path.resolve(vectors, folder, name);
      const vector = JSON.parse(readFileSync(file, "utf8"));
      // What a verifier has to have seen before is no part of a request file.
      if (vector.test_harness_state !== undefined || vector.jwks_override !== undefined) continue;
      const { out, code } = await webhook(
        "verify",
        file,
        "--jwks",
        jwks,
        "--now",
        String(vector.reference_now),
        "--word",
        "adcp",
      );
      count += 1;
      if (vector.expected_outcome.success) {
        assert.is(code, 0, name);
        assert.match(out, vector.expected_signature_base.replace(/^/gm, "  "), name);
      } else {
        assert.is(code, 1, name);
        assert.match(out, `: ${vector.expected_outcome.error_code},`, name);
      }
    }
  }
  assert.ok(count >= 20, `${count} vectors`);
});

test.run();
