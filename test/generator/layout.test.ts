/** Schemas as they are emitted: text that says what it said, in lines a person can compare. */
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { jsonLiteral } from "../../generator/emit/layout.js";

/** Columns a line has at most, where no single name or text is longer. */
const WIDTH = 120;

/** What the literal is to a program. */
const evaluated = (json: string): string => runInNewContext(jsonLiteral(json)) as string;

test("an emitted schema parses to what it was, whatever its texts hold", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("`", "$" + "{a}", "\\d+\\", "\u2028", "\r\n", "*/"),
  );
  const values = fc.dictionary(texts, fc.oneof(texts, fc.array(texts), fc.jsonValue()));
  fc.assert(
    fc.property(values, (value) => {
      const json = JSON.stringify(value);
      assert.is(JSON.stringify(JSON.parse(evaluated(json))), JSON.stringify(JSON.parse(json)));
    }),
    { numRuns: 300 },
  );
});

test("an emitted schema has a line for each entry of what is wider than a line", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`field_${index}`, { type: "string", maxLength: index }]),
  );
  const lines = evaluated(JSON.stringify({ type: "object", properties, required: Object.keys(properties) })).split(
    "\n",
  );
  assert.ok(
    lines.every((line) => line.length <= WIDTH),
    `${Math.max(...lines.map(({ length }) => length))} columns`,
  );
  assert.is(lines.filter((line) => line.trim() === '"field_7": {"type": "string", "maxLength": 7},').length, 1);
  assert.is(lines.filter((line) => line.trim() === '"field_7",').length, 1);
});

test("an emitted schema that fits in a line is one line", () => {
  assert.is(
    evaluated('{"type":"array","items":{"$ref":"/core/line.json"}}'),
    '{"type": "array", "items": {"$ref": "/core/line.json"}}',
  );
});

test.run();
