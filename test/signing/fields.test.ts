/** The structured fields: what is refused, and that the quick reading and the general one never differ. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  Malformed,
  parseContentDigest,
  parseContentDigestGenerally,
  parseSignature,
  parseSignatureGenerally,
  parseSignatureInput,
  parseSignatureInputGenerally,
} from "../../runtime/signing/fields.js";

const list = '("@method" "@target-uri" "@authority" "content-type" "content-digest")';
const params =
  ';created=1776520800;expires=1776521100;nonce="KXYnfEfJ0PBRZXQyVXfVQA";keyid="k 1";alg="ed25519";tag="proto/webhook-signing/v1"';
const member = `sig1=${list}${params}`;
const signature = "nqTKCpjlqf1OqZPuJyPeiF7HJ01G8KmPNSzzmad0PAJv7OUVKthI7ks_j4G-6x1H4mBpXDIISgX_iZQiYvG7Dg";
const standard = `${signature.replaceAll("-", "+").replaceAll("_", "/")}==`;
const digest = "dJ2koiIMZIhdGE7tidErCHV13FFvOIowCcXDiwyG54I";

const isMalformed = (value: unknown): boolean => value instanceof Malformed;

const goodInputs = [
  member,
  `relay=("@method");keyid="x";nonce="n", ${member}`,
  `${member}, sig2=("@method" "x";req);created=1`,
  `${member},sig2=:AAAA:`,
  `${member}\t,\tother;a=1`,
  `other=?1, ${member}`,
  `other=a:b/c, ${member}`,
  `other="a, sig1=(\\"x\\")", ${member}`,
  `other=:A+B-C_D/:, ${member}`,
  member.replace(";created", ";  created"),
  `${member};extra=1;flag`,
  member.replace('"content-digest"', '"content-digest";req'),
  `sig1=${list};tag="t"`,
  `sig1=()${params}`,
];
for (const input of goodInputs) {
  test(`both parsers take ${input.slice(0, 60)}...`, () => {
    const parsed = parseSignatureInput(input);
    assert.not(isMalformed(parsed), JSON.stringify(parsed));
    assert.equal(parsed, parseSignatureInputGenerally(input));
  });
}

test("a signature's input is read as components, parameters and the text as received", () => {
  const parsed = parseSignatureInput(` x=1,  ${member} `.trim());
  assert.equal(parsed, {
    components: ["@method", "@target-uri", "@authority", "content-type", "content-digest"],
    params: {
      created: 1776520800,
      expires: 1776521100,
      nonce: "KXYnfEfJ0PBRZXQyVXfVQA",
      keyid: "k 1",
      alg: "ed25519",
      tag: "proto/webhook-signing/v1",
    },
    text: `${list}${params}`,
  });
});

const badInputs: Record<string, string> = {
  nothing: "",
  "no dictionary": "this is not a dictionary",
  "a label alone": "sig1",
  "another label": member.replace("sig1", "sig2"),
  "a label in upper case": member.replace("sig1", "Sig1"),
  "a token": "sig1=this-is-not-an-inner-list",
  "a string": 'sig1="x"',
  bytes: "sig1=:AAAA:",
  "the label twice": `${member}, ${member}`,
  "the label twice, once empty": `sig1, ${member}`,
  "another label twice": `${member}, a=1, a=2`,
  "a trailing comma": `${member},`,
  "a leading comma": `,${member}`,
  "two commas": `a=1,,${member}`,
  "an open list": member.replace(")", ""),
  "an open string": member.replace('v1"', "v1"),
  "a component twice": member.replace('"@method"', '"@method" "@method"'),
  "a component unquoted": member.replace('"@method"', "@method"),
  "a component as a token": member.replace('"content-type"', "content-type"),
  "components without a space": member.replace('" "', '""'),
  "a tab between components": member.replace('" "', '"\t"'),
  "keyid unquoted": member.replace('keyid="k 1"', "keyid=foo"),
  "nonce unquoted": member.replace(/nonce="[^"]*"/, "nonce=abc"),
  "alg unquoted": member.replace('"ed25519"', "ed25519"),
  "tag as bytes": member.replace('"proto/webhook-signing/v1"', ":AAAA:"),
  "tag without value": member.replace('tag="proto/webhook-signing/v1"', "tag"),
  "keyid as a display string": member.replace('"k 1"', '%"k"'),
  "created as a string": member.replace("created=1776520800", 'created="1776520800"'),
  "created as a decimal": member.replace("created=1776520800", "created=1776520800.0"),
  "created as a date": member.replace("created=1776520800", "created=@1776520800"),
  "created as true": member.replace("created=1776520800", "created"),
  "created too long": member.replace("created=1776520800", "created=1776520800000000"),
  "expires with a plus": member.replace("expires=", "expires=+"),
  "created twice": member.replace(";expires", ";created=1776520800;expires"),
  "tag twice": `${member};tag="proto/webhook-signing/v1"`,
  "an unknown parameter twice": `${member};x=1;x=1`,
  "a line break": `${member}\n`,
  "a line break in a string": member.replace("k 1", "k\n1"),
  "a character beyond ASCII": member.replace("k 1", "k\u00e9"),
  "an escape that is none": member.replace("k 1", "k\\1"),
  "text after the member": `${member} x`,
  "space before the parameters": member.replace(";created", " ;created"),
};
for (const [what, input] of Object.entries(badInputs)) {
  test(`Signature-Input with ${what} is malformed`, () => {
    assert.ok(isMalformed(parseSignatureInput(input)), JSON.stringify(parseSignatureInput(input)));
    assert.ok(isMalformed(parseSignatureInputGenerally(input)));
  });
}

test("signatures are read in one alphabet", () => {
  const expected = new Uint8Array(Buffer.from(signature, "base64url"));
  const { length } = signature;
  const good = [
    `sig1=:${signature}:`,
    `sig1=:${standard}:`,
    `sig1=:${standard.slice(0, length)}:`,
    `a=:A+-:, sig1=:${signature}:;x=1`,
  ];
  for (const field of good) assert.equal(new Uint8Array(parseSignature(field) as Uint8Array), expected, field);
  const bad = [
    ...[
      "",
      "sig1",
      "sig1=",
      "sig1=::x",
      `sig2=:${signature}:`,
      `sig1="${signature}"`,
      `sig1=${signature}`,
      `sig1=:${signature}`,
    ],
    ...[
      `sig1=:${signature}==:`,
      `sig1=:${standard.slice(0, -1)}:`,
      `sig1=:+${signature.slice(1)}:`,
      `sig1=:${signature}=:`,
    ],
    ...[
      `sig1=:${signature}:, sig1=:${signature}:`,
      `sig1=(:${signature}:)`,
      `sig1=:${signature.slice(0, 85)}:`,
      `sig1=: ${signature}:`,
    ],
    `sig1=:${signature.slice(0, -1)}h:`,
    "sig1=:A+B-CDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789AB:",
  ];
  for (const field of bad) assert.ok(isMalformed(parseSignature(field)), field);
});

test("digests are read in one alphabet, from the one algorithm", () => {
  for (const field of [
    `sha-256=:${digest}:`,
    `sha-256=:${digest}=:`,
    `sha-512=:AAAA:, sha-256=:${digest}:`,
    `sha-256=:${digest}:;q=1`,
  ]) {
    assert.is(parseContentDigest(field), digest, field);
  }
  assert.is(parseContentDigest("sha-256=:ab+/:"), "ab-_");
  const bad = [
    ...[
      "",
      "sha-256",
      `sha-512=:${digest}:`,
      `SHA-256=:${digest}:`,
      `sha-256="${digest}"`,
      `sha-256=${digest}`,
      `sha-256=:${digest}`,
    ],
    ...[
      `sha-256=:${digest}:, sha-256=:${digest}:`,
      `sha-256=:${digest}==:`,
      "sha-256=:a-b+:",
      "sha-256=:a-b_=:",
      `sha-256=:${digest.slice(0, -1)}J:`,
    ],
  ];
  for (const field of bad) assert.ok(isMalformed(parseContentDigest(field)), field);
});

/** Text near a field: the field, with pieces of fields put in, taken out and doubled. */
const near = (field: string) => {
  const pieces = [
    "sig1=",
    "sha-256=",
    ":",
    '"',
    "\\",
    "(",
    ")",
    ";",
    ",",
    " ",
    "=",
    "\t",
    "a",
    "A",
    "-",
    "+",
    "/",
    "_",
    "0",
    ".",
    "@",
    "?1",
    "%",
    "é",
    "\n",
  ];
  const edit = fc.record({ at: fc.nat(), remove: fc.nat(4), insert: fc.constantFrom("", ...pieces) });
  return fc.array(edit, { maxLength: 3 }).map((edits) =>
    edits.reduce((text, { at, remove, insert }) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + insert + text.slice(place + remove);
    }, field),
  );
};

const readings: [string, (field: string) => unknown, (field: string) => unknown][] = [
  [member, parseSignatureInput, parseSignatureInputGenerally],
  [`sig1=${list.replace(' "content-digest"', "")}${params}`, parseSignatureInput, parseSignatureInputGenerally],
  [`sig1=:${signature}:`, parseSignature, parseSignatureGenerally],
  [`sig1=:${standard}:`, parseSignature, parseSignatureGenerally],
  [`sha-256=:${digest}:`, parseContentDigest, parseContentDigestGenerally],
  [`sha-256=:${digest}=:`, parseContentDigest, parseContentDigestGenerally],
];
for (const [field, quick, general] of readings) {
  test(`both parsers read text near ${field.slice(0, 40)}... alike, or it is malformed to both`, () => {
    fc.assert(
      fc.property(near(field), (text) => {
        const [left, right] = [quick(text), general(text)];
        assert.is(isMalformed(left), isMalformed(right), text);
        if (!isMalformed(left)) assert.equal(left, right);
      }),
      { numRuns: 3000 },
    );
  });
}

test.run();
