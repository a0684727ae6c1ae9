/** Every way a reference may be written leads to the same file. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { loadRelease } from "../../generator/load/load.js";
import { changedRelease, schema, smallRelease, tempFolder, writeRelease } from "../support/release.js";

const request = "media-buy/place-order-request.json";

const faults = async (folder: string): Promise<string[]> => {
  const release = await loadRelease(folder);
  return [...release.findings, ...[...release.schemas.values()].flatMap(({ findings }) => findings)].map(
    ({ message }) => message,
  );
};

const refOf = async (folder: string): Promise<unknown> => {
  const release = await loadRelease(folder);
  const root = release.schemas.get(request)?.schema as { properties: { lines: { items: { $ref: string } } } };
  return root.properties.lines.items.$ref;
};

const ways: [way: string, ref: string, expected?: string][] = [
  ["absolute path id", "/schemas/1.2.3/core/line.json"],
  ["relative to the file", "../core/line.json"],
  ["with a fragment", "/schemas/1.2.3/core/line.json#/properties/parts", "/core/line.json#/properties/parts"],
  [
    "percent-encoded fragment",
    "/schemas/1.2.3/core/line.json#/properties/p%61rts",
    "/core/line.json#/properties/parts",
  ],
  ["path in the release", "/core/line.json"],
];

for (const [way, ref, expected = "/core/line.json"] of ways) {
  test(`a reference by ${way} is resolved`, async () => {
    const folder = changedRelease((files) => {
      files[request].properties.lines.items = { $ref: ref };
    });
    assert.equal(await faults(folder), []);
    assert.is(await refOf(folder), expected);
  });
}

test("references under https ids are resolved", async () => {
  const files = JSON.parse(
    JSON.stringify(smallRelease()).replaceAll("/schemas/1.2.3/", "https://example.org/schemas/1.2.3/"),
  );
  const folder = writeRelease(files);
  assert.equal(await faults(folder), []);
  assert.is(await refOf(folder), "/core/line.json");
});

test("references find their files in a folder that was renamed while its ids stayed", async () => {
  const folder = changedRelease((files) => {
    files["basics/line.json"] = files["core/line.json"];
    files["core/line.json"] = undefined;
  });
  assert.equal(await faults(folder), []);
  assert.is(await refOf(folder), "/basics/line.json");
});

test("a release without ids is read by the places of its files", async () => {
  const files = smallRelease();
  for (const file of Object.values(files)) delete (file as { $id?: string }).$id;
  const text = JSON.stringify(files).replaceAll("/schemas/1.2.3/", "../");
  assert.equal(await faults(writeRelease(JSON.parse(text))), []);
});

test("anchors, nested ids and recursion are resolved", async () => {
  const folder = changedRelease((files) => {
    files["core/line.json"] = schema("core/line.json", {
      type: "object",
      properties: {
        self: { $ref: "#" },
        named: { $ref: "#spot" },
        other: { $ref: "error.json" },
        nested: { $id: "inner.json", properties: { a: { $ref: "#/properties/b" }, b: { type: "string" } } },
        spot: { $anchor: "spot", type: "string" },
      },
    });
  });
  assert.equal(await faults(folder), []);
  const line = (await loadRelease(folder)).schemas.get("core/line.json")?.schema as {
    properties: Record<string, never>;
  };
  const refs = line.properties as unknown as Record<
    string,
    { $ref?: string; properties?: Record<string, { $ref?: string }> }
  >;
  assert.is(refs.self?.$ref, "/core/line.json");
  assert.is(refs.named?.$ref, "/core/line.json#/properties/spot");
  assert.is(refs.other?.$ref, "/core/error.json");
  assert.is(refs.nested?.properties?.a?.$ref, "/core/line.json#/properties/nested/properties/b");
});

test("a property may be called $ref, and an example may hold one", async () => {
  const folder = changedRelease((files) => {
    files[request].properties.$ref = { type: "string" };
    files[request].examples = [{ $ref: "nowhere.json" }];
    files[request].properties.note.default = { $ref: "#/nope" };
  });
  assert.equal(await faults(folder), []);
});

test("a reference longer than any file's name names no file, and is told by its place", async () => {
  const folder = changedRelease((files) => {
    files["media-buy/list-orders-request.json"].properties = { far: { $ref: `${"x".repeat(300)}.json` } };
  });
  const { releases } = await generate([folder], { out: tempFolder() });
  assert.equal(
    releases[0]?.findings.map(({ rule, file, pointer }) => [rule, file, pointer]),
    [["schema-missing", "media-buy/list-orders-request.json", "/properties/far/$ref"]],
  );
});

test("a reference must not lead out of the release", async () => {
  const outside = tempFolder();
  writeRelease({ "secret.json": { type: "string" } }, outside);
  const folder = changedRelease((files) => {
    files[request].properties.lines.items = { $ref: `../../../${outside.slice(1)}/secret.json` };
  });
  assert.match((await faults(folder)).join(), /names no file of the release/);
});

test("the digest knows content, not order or layout", async () => {
  const a = await loadRelease(changedRelease(() => {}));
  const b = await loadRelease(
    changedRelease((files) => {
      files["core/line.json"] = Object.fromEntries(Object.entries(files["core/line.json"]).reverse());
    }),
  );
  const c = await loadRelease(
    changedRelease((files) => {
      files["core/line.json"].title = "Row";
    }),
  );
  assert.is(a.digest, b.digest);
  assert.is.not(a.digest, c.digest);
});

test.run();
