/** Node's primitives where they are not asked the plain way. */
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { derOf, fixedOf } from "../../runtime/signing/ecdsa.js";
import { nodeCrypto } from "../../runtime/signing/node-crypto.js";

const test = suite("node's primitives");

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const fixed = { dsaEncoding: "ieee-p1363" } as const;

/** r||s of two numbers. */
const halves = (r: Buffer, s: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(32 - r.length), r, Buffer.alloc(32 - s.length), s]);

test("ECDSA signatures are node's own in the other spelling", () => {
  for (let round = 0; round < 50; round++) {
    const text = `base ${round}`;
    const ours = Buffer.from(nodeCrypto.sign("ecdsa-p256-sha256", privateKey, text) as string, "base64url");
    assert.is(ours.length, 64);
    assert.ok(verify("sha256", Buffer.from(text), { key: publicKey, ...fixed }, ours));
    const nodes = sign("sha256", Buffer.from(text), { key: privateKey, ...fixed });
    assert.is(nodeCrypto.verify("ecdsa-p256-sha256", publicKey, text, nodes), true);
    assert.is(nodeCrypto.verify("ecdsa-p256-sha256", publicKey, `${text}!`, nodes), false);
    nodes[40]! ^= 1;
    assert.is(nodeCrypto.verify("ecdsa-p256-sha256", publicKey, text, nodes), false);
  }
});

const numbers: Record<string, Buffer> = {
  "of full length": Buffer.alloc(32, 0x7f),
  "with its first bit set": Buffer.alloc(32, 0xff),
  short: Buffer.from([0x12, 0x34]),
  "short, with its first bit set": Buffer.from([0x80]),
  zero: Buffer.from([0]),
};

for (const [name, r] of Object.entries(numbers)) {
  test(`a number ${name} comes back from DER as it was, and has its shortest form there`, () => {
    const s = Buffer.alloc(31, 0x90);
    const der = derOf(halves(r, s))!;
    assert.equal(fixedOf(der), halves(r, s));
    assert.equal(fixedOf(derOf(halves(s, r))!), halves(s, r));
    const [kind, length, integer, size, first, second] = der;
    assert.equal([kind, length, integer], [0x30, der.length - 2, 0x02]);
    assert.is(size, r.length + (r[0]! > 0x7f ? 1 : 0));
    assert.not.ok(size! > 1 && first === 0 && second! < 0x80);
  });
}

test("a signature of another length, or of zeros, holds for nothing", () => {
  const good = sign("sha256", Buffer.from("base"), { key: privateKey, ...fixed });
  const others = [Buffer.alloc(0), good.subarray(0, 63), Buffer.concat([good, Buffer.alloc(1)]), Buffer.alloc(64)];
  for (const other of [...others, sign("sha256", Buffer.from("base"), privateKey)]) {
    assert.is(nodeCrypto.verify("ecdsa-p256-sha256", publicKey, "base", other), false);
  }
});

test("random texts are of the length asked for, and none comes twice", () => {
  const texts = Array.from({ length: 2000 }, () => nodeCrypto.randomText(16));
  assert.is(new Set(texts).size, texts.length);
  assert.ok(texts.every((text) => /^[A-Za-z0-9_-]{22}$/.test(text)));
  assert.is(Buffer.from(nodeCrypto.randomText(5000), "base64url").length, 5000);
});

test.run();
