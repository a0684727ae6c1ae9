/** Releases in a later draft: what is generated judges as ajv does by that draft, or the release is refused by keyword. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate, lintRelease } from "../../generator/index.js";
import { type AnyValidator, createValidator } from "../../runtime/validate/index.js";
import { type Files, schema, smallRelease, writeRelease } from "../support/release.js";
import { said, shared } from "./later-words.js";
import { importGenerated, packageFolder } from "./mutants/judge.js";
import { number, text } from "./mutants/shape.js";

const later = "https://json-schema.org/draft/2020-12/schema";
const request = "media-buy/list-orders-request.json";

function releaseOf(mutant: object): Files {
  const files = smallRelease();
  files[request] = {
    ...schema(request, {
      title: "List Orders Request",
      type: "object",
      properties: { mutant },
      $defs: {
        node: { $dynamicAnchor: "node", type: "object", properties: { v: text } },
        told: {
          dependentSchemas: {
            kind: { oneOf: ["a", "b"].map((kind) => ({ properties: { kind: { const: kind }, [kind]: text } })) },
          },
        },
      },
    }),
    $schema: later,
  };
  files[shared] = {
    ...schema(shared, {
      type: "object",
      properties: { shared: number },
      $defs: { inside: { $id: "inside.json", $defs: { inside: { $anchor: "inside", type: "string" } } } },
    }),
    $schema: later,
  };
  return files;
}

const workspace = packageFolder();

for (const [index, [name, { schema: mutant, values }]] of Object.entries(said).entries()) {
  test(`${name}: the verdicts are those of the draft`, async () => {
    const files = releaseOf(mutant);
    const ajv = new Ajv2020({ strict: false, logger: false, schemas: [files[shared] as object] });
    const plain = ajv.compile(files[request] as object);
    const { ok, releases } = await generate([writeRelease(files)], { out: `${workspace}/r${index}`, standalone: true });
    assert.ok(ok, JSON.stringify(releases[0]?.findings));
    const { release, standalone } = await importGenerated(`${workspace}/r${index}/1.2.3`, true);
    const verdict = (by: AnyValidator) => values.map((one) => by.request("list_orders", { mutant: one }).ok);
    const expected = values.map((one) => plain({ mutant: one }));
    assert.ok(new Set(expected).size === 2 || name === "none to contain", "what all pass proves nothing");
    assert.equal(verdict(await createValidator(release)), expected);
    assert.equal(verdict(standalone!), expected);
  });
}

/** What draft-07 cannot say. */
const unsaid: Record<string, object> = {
  unevaluatedProperties: { oneOf: [{ properties: { a: text } }, { patternProperties: { "^b": text } }] },
  unevaluatedItems: { contains: text },
  $dynamicRef: { $defs: { other: { $id: "other", $dynamicAnchor: "node" } } },
};
const values: Record<string, unknown> = { $dynamicRef: "#node" };

for (const [keyword, beside] of Object.entries(unsaid)) {
  test(`${keyword} that draft-07 cannot say is refused, where it is never passed over`, async () => {
    const files = releaseOf({ ...beside, [keyword]: values[keyword] ?? false });
    const { findings } = await lintRelease(writeRelease(files));
    assert.equal(
      findings.filter(({ level }) => level === "error").map(({ rule, file, pointer }) => [rule, file, pointer]),
      [["schema-draft", request, `/properties/mutant/${keyword}`]],
    );
  });
}

test("a count of elements that is no count is refused", async () => {
  const files = releaseOf({ contains: text, minContains: 1.5, maxContains: "2" });
  const { findings } = await lintRelease(writeRelease(files));
  const errors = findings.filter(({ level }) => level === "error").map(({ rule, pointer }) => [rule, pointer]);
  assert.equal(errors.sort(), [
    ["schema-invalid", "/properties/mutant/maxContains"],
    ["schema-invalid", "/properties/mutant/minContains"],
  ]);
});

for (const anchored of [false, true]) {
  test(`a $recursiveRef in a file that ${anchored ? "is" : "is not"} an anchor is one to the file, where no other anchor leads to it`, async () => {
    const files = releaseOf({ items: { $recursiveRef: "#" } });
    const draft = "https://json-schema.org/draft/2019-09/schema";
    Object.assign(files[request] as object, { $schema: draft, ...(anchored && { $recursiveAnchor: true }) });
    const out = `${workspace}/recursive-${anchored}`;
    assert.ok((await generate([writeRelease(files)], { out, standalone: true })).ok);
    const { release, standalone } = await importGenerated(`${out}/1.2.3`, true);
    for (const by of [await createValidator(release), standalone!]) {
      assert.equal(by.request("list_orders", { mutant: [{ mutant: [{}] }] }).ok, true);
      assert.equal(by.request("list_orders", { mutant: [{ mutant: ["x"] }] }).ok, false);
    }
    files[shared] = { ...(files[shared] as object), $schema: draft, $recursiveAnchor: true };
    Object.assign((files[shared] as { properties: object }).properties, {
      list: { $ref: "/schemas/1.2.3/" + request },
    });
    const { findings } = await lintRelease(writeRelease(files));
    assert.ok(findings.some(({ rule, pointer }) => rule === "schema-draft" && pointer.endsWith("$recursiveRef")));
  });
}

test("in draft-07 words of later drafts say nothing, to ajv as to what is generated", async () => {
  const files = releaseOf({
    type: "array",
    prefixItems: [text],
    contains: text,
    maxContains: 1,
    unevaluatedItems: false,
  });
  Object.assign(files[request] as object, { $schema: "http://json-schema.org/draft-07/schema#" });
  const out = `${workspace}/words`;
  assert.ok((await generate([writeRelease(files)], { out, standalone: true })).ok);
  const { release, standalone } = await importGenerated(`${out}/1.2.3`, true);
  for (const by of [await createValidator(release), standalone!])
    assert.equal(by.request("list_orders", { mutant: ["a", "b", 1] }).ok, true);
});

test.run();
