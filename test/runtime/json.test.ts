/** Strict JSON: what JSON.parse accepts and nothing else, minus doubled keys, bad UTF-8 and bottomless nesting. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { MAX_DEPTH_LEVELS, parseStrict, safeKeyName, safeKeyNames, strictFault } from "../../runtime/json.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const reasonOf = (text: string) => strictFault(bytes(text))?.reason;

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const invalid = [
  ...[
    "",
    " ",
    "{",
    "}",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    "{,}",
  ],
  ...['{"a" 1}', "{a:1}", "{'a':1}", "{1:1}", '{"a":1 "b":2}', "[1 2]", "1 2", "{}{}", "[]]", "{}x", "x{}", "\u00a0{}"],
  ...[
    "01",
    "-",
    "+1",
    "1.",
    ".1",
    "1e",
    "1e+",
    "--1",
    "0x1",
    "1_0",
    "NaN",
    "Infinity",
    "-Infinity",
    "1.e1",
    "00",
    "-01",
  ],
  ...["tru", "True", "fals", "nul", "nulll", "undefined", "truefalse", "/**/1", "1//"],
  ...['"', '"a', '"\\', '"\\x"', '"\\u12"', '"\\u12g4"', '"\\u"', '"\t"', '"\n"', '"\u0000"', '"\u001f"', "\ufeff{}"],
  ...['["a" "b"]', '{"a":}', '{"a"::1}', '{"a":1:2}', "[1}", '{"a":1]', '{"a\n":1}', '{"a\\q":1}', '{"a\\', '{"a\\"'],
];

for (const text of invalid) {
  test(`the reader refuses ${JSON.stringify(text)}`, () => {
    assert.is(parses(text), false);
    assert.is(reasonOf(text), "syntax");
  });
}

const valid = [
  ...[
    "0",
    "-0",
    "1",
    "-1.5",
    "1e5",
    "1E+5",
    "1e-5",
    "0.10",
    "true",
    "false",
    "null",
    '""',
    "[]",
    "{}",
    " [ ] ",
    "\t{\n}\r",
  ],
  ...[
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\u007f"',
    '"\u2028"',
    '"é😀"',
    '{"é":1,"e\u0301":2}',
  ],
  ...['{"a":{"a":{"a":1}}}', '[{"a":1},{"a":2}]', '{"a":[{"b":1},{"b":2}],"b":3}', '{"":1," ":2}', '{"a":"\\"a\\":1"}'],
  ...['{"__proto__":1,"constructor":2,"toString":3}', '{"a\\"":1,"a":2}', '{"1":1,"01":2}', ' {"a" : 1 , "b"\t:\n2 } '],
];

for (const text of valid) {
  test(`the reader accepts ${JSON.stringify(text)}`, () => {
    const result = parseStrict(bytes(text));
    assert.ok(result.ok);
    assert.equal(JSON.stringify(result.value), JSON.stringify(JSON.parse(text)));
  });
}

const doubled: [string, string[]][] = [
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['{"\\u0061":1,"a":2}', ["a"]],
  ['{"a\\"":1,"a\\u0022":2}', ['a"']],
  ['{"x":{"a":1,"b":2,"a":3}}', ["a"]],
  ['{"x":[[{"a":1,"a":2}]]}', ["a"]],
  ['[{"a":1},{"b":1,"b":2}]', ["b"]],
  ['{"a":{"z":1},"b":2,"a":{"y":1}}', ["a"]],
  ['{"a":1, "a" :2}', ["a"]],
  ['{"":1,"":2}', [""]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
  ['{"é":1,"\\u00e9":2}', ["é"]],
  ['{"a":1,"b":1,"a":2,"b":2,"a":3}', ["a", "b"]],
  ['{"a":{"b":1,"b":2},"a":3}', ["b", "a"]],
];

for (const [text, keys] of doubled) {
  test(`the reader finds the doubled keys of ${text}`, () => {
    const result = strictFault(bytes(text));
    assert.is(result?.reason, "duplicate_keys");
    assert.equal(result?.keys, keys);
  });
}

test("keys whose hashes meet are no doubled keys", () => {
  // 32 * "A" ^ "a" and 32 * "C" ^ "!" are equal.
  assert.is(reasonOf('{"Aa":1,"C!":2}'), undefined);
  assert.is(reasonOf('{"Aa":1,"C!":2,"Aa":3}'), "duplicate_keys");
});

test("an object of many keys is looked at as closely", () => {
  const keys = Array.from({ length: 5000 }, (_, at) => `"k${at}":${at}`);
  assert.is(reasonOf(`{${keys.join(",")}}`), undefined);
  assert.is(reasonOf(`{${[...keys, '"k4999":0'].join(",")}}`), "duplicate_keys");
  const deep = `{"a":[${Array.from({ length: 60 }, () => `{${keys.slice(0, 60).join(",")}}`).join(",")}]}`;
  assert.is(reasonOf(deep), undefined);
});

test("a huge object takes time in proportion", () => {
  const keys = Array.from({ length: 200_000 }, (_, at) => `"k${at}":0`);
  assert.is(reasonOf(`{${keys.join(",")}}`), undefined);
});

test("keys on Object.prototype hide nothing", () => {
  const prototype = Object.prototype as Record<string, unknown>;
  prototype.injected = 1;
  try {
    assert.is(reasonOf('{"a":1,"a":2}'), "duplicate_keys");
    assert.is(reasonOf('{"a":1}'), undefined);
  } finally {
    delete prototype.injected;
  }
});

test("nesting is bounded, and an enormous one is refused without harm", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  assert.is(reasonOf(nested(MAX_DEPTH_LEVELS)), undefined);
  assert.is(reasonOf(nested(MAX_DEPTH_LEVELS + 1)), "depth");
  assert.is(reasonOf(nested(500_000)), "depth");
  assert.is(reasonOf('{"a":'.repeat(300) + "1" + "}".repeat(300)), "depth");
  assert.is(strictFault(bytes("[[1]]"), 1)?.reason, "depth");
  assert.is(strictFault(bytes("[1]"), 1), undefined);
});

test("bytes that are no UTF-8 are refused", () => {
  for (const bad of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]]) {
    assert.is(strictFault(Uint8Array.from([0x22, ...bad, 0x22]))?.reason, "utf8");
  }
});

test("names and texts in any script are judged alike", () => {
  assert.is(reasonOf('{"größe":"naïve 🙂 \\u00e9 é","größer":"ж"}'), undefined);
  assert.is(reasonOf('{"größe":1,"b":"ж","größe":2}'), "duplicate_keys");
  for (const place of ['{"a":"', '{"', '["\\n']) {
    for (const broken of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
      const rest = place === '["\\n' ? '"]' : place === '{"' ? '":1}' : '"}';
      assert.is(strictFault(Buffer.concat([bytes(place), Buffer.from(broken), bytes(rest)]))?.reason, "utf8");
    }
  }
});

test("the reader agrees with JSON.parse on documents with distinct keys", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 4 }), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      const result = parseStrict(bytes(spaced));
      assert.ok(result.ok);
      assert.equal(JSON.stringify(result.value), JSON.stringify(JSON.parse(spaced)));
    }),
    { numRuns: 500 },
  );
});

test("the reader agrees with JSON.parse on documents with a few characters changed", () => {
  const alphabet = fc.constantFrom(...'{}[]:,"\\0123456789.eE+-tfnrulasbu \t\n/x\u0000\u007fé😀');
  const edit = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: fc.string({ unit: alphabet, maxLength: 2 }) });
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      let changed = text;
      for (const { at, remove, insert } of edits) {
        const place = at % (changed.length + 1);
        changed = changed.slice(0, place) + insert + changed.slice(place + remove);
      }
      const encoded = bytes(changed);
      const result = strictFault(encoded);
      const accepted = result === undefined || result.reason === "duplicate_keys";
      assert.is(accepted, parses(new TextDecoder("utf-8", { ignoreBOM: true }).decode(encoded)), changed);
    }),
    { numRuns: 5000 },
  );
});

test("a doubled key is found wherever it is put", () => {
  const object = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 6 });
  const wrap = fc.array(fc.constantFrom("array", "object"), { maxLength: 6 });
  fc.assert(
    fc.property(object, fc.nat(), wrap, (value, pick, wrappers) => {
      const keys = Object.keys(value);
      const key = keys[pick % keys.length]!;
      let text = `${JSON.stringify(value).slice(0, -1)},${JSON.stringify(key)}:0}`;
      for (const wrapper of wrappers) text = wrapper === "array" ? `[0,${text},1]` : `{"w":0,"v":${text}}`;
      assert.is(reasonOf(text), "duplicate_keys");
    }),
    { numRuns: 500 },
  );
});

test("key names are safe to log", () => {
  assert.is(safeKeyName("status"), "status");
  assert.is(safeKeyName("a\nb"), "<sanitized:1>");
  assert.is(safeKeyName("\u0000"), "<sanitized:0>");
  assert.is(safeKeyName("é\u202egpj"), "<sanitized:2>");
  for (const hidden of [
    "\u001b",
    "\u007f",
    "\u0085",
    "\u200b",
    "\u200f",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
  ]) {
    assert.is(safeKeyName(`ab${hidden}c`), "<sanitized:2>");
  }
  assert.is(safeKeyName("x".repeat(33)), "x".repeat(32));
  assert.is(safeKeyName("é".repeat(17)), "é".repeat(16));
  assert.is(safeKeyName(`${"x".repeat(31)}é`), "x".repeat(31));
  assert.is(safeKeyName(`${"x".repeat(30)}😀`), "x".repeat(30));
  assert.equal(safeKeyNames(["a", "b", "c", "d"]), ["a", "b", "c", "d"]);
  assert.equal(safeKeyNames(["a", "b", "c", "d", "e", "f"]), ["a", "b", "c", "d", "<...2 more>"]);
});

test("what is said of a malformed body holds nothing of it but sanitised names", () => {
  const result = strictFault(bytes('{"secret-value-in-body":"hunter2","k\\u0007ey":1,"k\\u0007ey":2}'));
  assert.is(result?.detail, "duplicate object keys: <sanitized:1>");
});

test.run();
