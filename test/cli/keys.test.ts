/** `adbind keys`: what is written, what is printed, and what never is. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/keys.js";
import { memoryReplayStore, signWebhook, staticKeys, verifyWebhook } from "../../runtime/signing/index.js";
import type { Jwk } from "../../runtime/signing/types.js";
import { smallRelease, writeRelease } from "../support/release.js";
import { commandFolder, runCommand } from "./run-command.js";

let place: ReturnType<typeof commandFolder>;
test.before.each(() => {
  place = commandFolder();
});
test.after.each(() => place.remove());

const keys = (...argv: string[]) => runCommand(register, argv);
const readKeys = (name = "k.json"): (Jwk & { kid: string })[] => JSON.parse(readFileSync(place.at(name), "utf8")).keys;
const published = async (): Promise<(Jwk & { kid: string })[]> => JSON.parse((await keys("jwks", "k.json")).out).keys;
const modeOf = (name: string): number => statSync(place.at(name)).mode & 0o777;

test("generate makes a private file for the owner alone, and prints nothing private", async () => {
  const { out, err, code } = await keys("generate", "--word", "proto", "--out", "k.json");
  const [key, ...others] = readKeys();
  assert.equal([code, err, others, modeOf("k.json")], [0, "", [], 0o600]);
  assert.match(key?.kid ?? "", /^ed25519-\d{4}-\d\d-\d\d-[0-9a-f]{8}$/);
  assert.equal([key?.alg, key?.use, key?.key_ops, key?.proto_use], ["EdDSA", "sig", ["sign"], "request-signing"]);
  assert.ok(key?.d !== undefined && !out.includes(key.d));
  assert.equal(readdirSync(place.folder), ["k.json"], "no draft is left");
});

test("generate writes over no file that is there", async () => {
  await keys("generate", "--word", "proto", "--out", "k.json");
  const before = readFileSync(place.at("k.json"), "utf8");
  const { code, err } = await keys("generate", "--word", "proto", "--out", "k.json");
  assert.is(code, 1);
  assert.match(err, "exists already");
  assert.is(readFileSync(place.at("k.json"), "utf8"), before);
  assert.equal(readdirSync(place.folder), ["k.json"]);
});

test("what jwks prints verifies what the file signs, for both algorithms and any word", async () => {
  for (const [alg, word] of [
    ["ed25519", "proto"],
    ["ecdsa-p256-sha256", "acme"],
  ] as const) {
    const name = `${alg}.json`;
    await keys("generate", "--alg", alg, "--word", word, "--kid", "my-key", "--out", name);
    const { out } = await keys("jwks", name);
    assert.not.match(out, /"d"/);
    assert.equal(
      Object.keys(JSON.parse(out).keys[0])
        .sort()
        .filter((member) => member !== "y"),
      [`${word}_use`, "alg", "crv", "key_ops", "kid", "kty", "use", "x"].sort(),
    );
    const request = {
      method: "POST",
      url: "https://buyer.example/hook",
      headers: { "content-type": "application/json" },
      body: new TextEncoder().encode("{}"),
    };
    const [key] = readKeys(name);
    const { headers } = await signWebhook(request, { key: key as Jwk, keyid: "my-key", word });
    const result = await verifyWebhook(
      { ...request, headers: { ...headers } },
      { keys: staticKeys(JSON.parse(out), { sender: "s" }), replay: memoryReplayStore(), word },
    );
    assert.ok(result.ok, JSON.stringify(result));
  }
});

test("rotate makes a new key beside the old, of its kind, and both are published", async () => {
  await keys("generate", "--out", "k.json", "--alg", "ecdsa-p256-sha256", "--word", "acme", "--use", "governance");
  const [old] = readKeys();
  const { code } = await keys("rotate", "k.json");
  const [first, second, ...others] = readKeys();
  assert.equal([code, first, others.length, modeOf("k.json")], [0, old, 0, 0o600]);
  assert.equal([second?.alg, second?.acme_use], ["ES256", "governance-signing"]);
  assert.is.not(second?.x, old?.x);
  assert.equal(
    (await published()).map(({ kid }) => kid),
    [first?.kid, second?.kid],
  );
  assert.is((await keys("rotate", "k.json", "--alg", "ed25519", "--kid", "third")).code, 0);
  assert.equal(
    readKeys().map(({ alg }) => alg),
    ["ES256", "ES256", "EdDSA"],
  );
  assert.is((await keys("rotate", "k.json", "--kid", "third")).code, 1);
  assert.is(readKeys().length, 3);
});

test("rotate: every purpose of a file is renewed, or the one asked for", async () => {
  await keys("generate", "--out", "k.json", "--word", "acme", "--use", "both");
  const said = (await keys("rotate", "k.json")).out;
  const purposes = () => readKeys().map(({ acme_use }) => acme_use);
  const [request, webhook] = ["request-signing", "webhook-signing"];
  assert.equal(purposes(), [request, webhook, request, webhook]);
  for (const { kid } of readKeys().slice(2)) assert.match(said, String(kid));
  assert.match(said, "beside 2 older");
  assert.is((await keys("rotate", "k.json", "--use", "request")).code, 0);
  assert.equal(purposes().slice(4), [request]);
  // The order of the newest is kept: that of requests is the newest now.
  assert.is((await keys("rotate", "k.json", "--kid", "next")).code, 0);
  assert.equal(purposes().slice(5), [webhook, request]);
  assert.equal(
    readKeys()
      .slice(5)
      .map(({ kid }) => kid),
    ["next-webhook", "next-request"],
  );
  const none = await keys("rotate", "k.json", "--use", "governance");
  assert.is(none.code, 1);
  assert.match(none.err, "no governance-signing key");
  assert.is((await keys("rotate", "k.json", "--use", "nothing")).code, 2);
  assert.is(readKeys().length, 7);
});

test("a change under way keeps others out", async () => {
  await keys("generate", "--word", "proto", "--out", "k.json");
  writeFileSync(place.at(".k.json.new"), "");
  for (const argv of [
    ["rotate", "k.json"],
    ["remove", "k.json", "x"],
    ["generate", "--word", "proto", "--out", "k.json"],
  ]) {
    const { code, err } = await keys(...argv);
    assert.is(code, 1);
    assert.match(err, "being changed");
  }
  assert.is(readKeys().length, 1);
});

test("remove takes a key away, or leaves it published only; the last signing key stays", async () => {
  await keys("generate", "--word", "proto", "--out", "k.json", "--kid", "one");
  assert.is((await keys("remove", "k.json", "one")).code, 1);
  await keys("rotate", "k.json", "--kid", "two");
  assert.is((await keys("remove", "k.json", "one", "--keep-public")).code, 0);
  const [one] = readKeys();
  assert.equal([one?.kid, one?.d, one?.key_ops], ["one", undefined, ["verify"]]);
  assert.equal(
    (await published()).map(({ kid }) => kid),
    ["one", "two"],
  );
  assert.is((await keys("remove", "k.json", "two")).code, 1);
  assert.is((await keys("remove", "k.json", "three")).code, 1);
  assert.is((await keys("remove", "k.json", "one")).code, 0);
  assert.equal(
    (await published()).map(({ kid }) => kid),
    ["two"],
  );
});

test("a link stays a link", async () => {
  await keys("generate", "--word", "proto", "--out", "k.json");
  symlinkSync(place.at("k.json"), place.at("link.json"));
  assert.is((await keys("rotate", "link.json")).code, 0);
  assert.ok(lstatSync(place.at("link.json")).isSymbolicLink());
  assert.is(readKeys().length, 2);
});

test("jwks prints public members only, and warns of a file others can read", async () => {
  const secret = {
    kid: "a",
    kty: "OKP",
    crv: "Ed25519",
    x: "x",
    d: "hidden-d",
    _private: "hidden-p",
    alg: "EdDSA",
    p: "hidden-q",
  };
  writeFileSync(place.at("k.json"), JSON.stringify({ keys: [secret] }));
  chmodSync(place.at("k.json"), 0o644);
  const { out, err, code } = await keys("jwks", "k.json");
  assert.is(code, 0);
  assert.not.match(out, "hidden");
  assert.match(err, "chmod 600");
});

test("wrong arguments and files are told", async () => {
  for (const [extra, code] of [
    [["--alg", "rsa"], 2],
    [["--alg", "toString"], 2],
    [["--use", "webhook-signing"], 2],
    [["--use", "toString"], 2],
    [["--word", "../x"], 2],
    [["--kid", 'a"b'], 2],
    [["--out", "no/such/folder/k.json"], 1],
  ] as const) {
    assert.is(
      (await keys("generate", "--word", "proto", ...(extra[0] === "--out" ? [] : ["--out", "k.json"]), ...extra)).code,
      code,
      extra.join(" "),
    );
  }
  assert.equal(readdirSync(place.folder), []);
  assert.is((await keys("jwks", "none.json")).code, 1);
  for (const content of [
    "",
    "{}",
    "[]",
    '{"keys":[]}',
    '{"keys":[{}]}',
    '{"keys":[{"kid":"a"},{"kid":"a"}]}',
    '{"keys":[],"keys":[]}',
  ]) {
    writeFileSync(place.at("bad.json"), content);
    assert.is((await keys("jwks", "bad.json")).code, 1, content);
    assert.is((await keys("rotate", "bad.json")).code, 1, content);
  }
  assert.equal(readdirSync(place.folder), ["bad.json"]);
});

test("both: two keys under two kids, one for requests and one that every release takes for webhooks", async () => {
  const made = async (name: string, ...more: string[]) => {
    const { code } = await keys("generate", "--word", "acme", "--out", name, ...more);
    assert.is(code, 0);
    return readKeys(name);
  };
  const both = await made("both.json", "--use", "both", "--kid", "k");
  assert.equal(
    both.map(({ kid, acme_use }) => [kid, acme_use]),
    [
      ["k-request", "request-signing"],
      ["k-webhook", "webhook-signing"],
    ],
  );
  assert.is.not(both[0]?.x, both[1]?.x);
  const unnamed = await made("unnamed.json", "--use", "both");
  assert.is.not(unnamed[0]?.kid, unnamed[1]?.kid);
  assert.equal(
    (await made("w.json", "--use", "webhook", "--kid", "k")).map(({ kid, acme_use }) => [kid, acme_use]),
    [["k", "webhook-signing"]],
  );
});

test("the word is the release's, the config's or that of the bindings here; without any, or of several, none is guessed", async () => {
  const useOf = async (name: string, ...more: string[]): Promise<string> => {
    const { code, err } = await keys("generate", "--out", name, ...more);
    return code === 0 ? Object.keys(readKeys(name)[0]!).find((member) => member.endsWith("_use"))! : `${code} ${err}`;
  };
  assert.match(await useOf("a.json"), /^2 .*--release/s);
  const files = smallRelease();
  const manifest = files["manifest.json"] as Record<string, unknown>;
  manifest.acme_version = manifest.proto_version;
  delete manifest.proto_version;
  writeRelease(files, place.at("releases/acme"));
  assert.is(await useOf("b.json", "--release", "releases/acme"), "acme_use");
  mkdirSync(place.at("bindings/1.2.3"), { recursive: true });
  writeFileSync(place.at("bindings/1.2.3/owned.json"), '{"word":"other"}');
  assert.is(await useOf("c.json"), "other_use");
  mkdirSync(place.at("bindings/2.0.0"));
  writeFileSync(place.at("bindings/2.0.0/owned.json"), '{"word":"another"}');
  assert.match(await useOf("d.json"), /^2 .*other, another/s);
  writeFileSync(place.at("adbind.config.json"), '{"releases":["releases/acme"]}');
  assert.is(await useOf("e.json"), "acme_use");
  assert.is(await useOf("f.json", "--word", "mine"), "mine_use");
});

test("help has an example for each", async () => {
  for (const name of ["generate", "rotate", "remove", "jwks"]) {
    const { out } = await keys(name, "--help");
    assert.match(out, `Example: adbind keys ${name}`);
  }
});

test.run();
