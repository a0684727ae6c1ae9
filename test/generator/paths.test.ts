/** Folders may be called what no URI may hold: bindings and both kinds of validators cope. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { type Files, smallRelease, tempFolder, writeRelease } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");

const renamed = (folder: string): Files => {
  const text = JSON.stringify(smallRelease()).replaceAll("/1.2.3/core/", `/1.2.3/${folder}/`);
  return Object.fromEntries(
    Object.entries(JSON.parse(text)).map(([file, content]) => [file.replace(/^core\//, `${folder}/`), content]),
  );
};

const good = { idempotency_key: "0123456789abcdef", lines: [{ product_id: "a" }] };
const bad = { ...good, lines: [{}] };

/** A folder to generate in, where `adbind/...` is this repository. */
function outputFolder(): string {
  const project = tempFolder();
  mkdirSync(path.join(project, "node_modules"));
  symlinkSync(root, path.join(project, "node_modules/adbind"));
  writeFileSync(path.join(project, "package.json"), '{"type":"module"}');
  return path.join(project, "bindings");
}

for (const folder of ["core é x", "co%20re", "c+o.re~1", "CORE"]) {
  test(`a folder called ${folder} is generated, compiled and validated`, async () => {
    const out = outputFolder();
    const result = await generate([writeRelease(renamed(folder))], { out, standalone: true });
    assert.is(result.ok, true);
    const { release } = await import(path.join(out, "1.2.3/index.ts"));
    const validator = await createValidator(release);
    assert.is(validator.schema("media-buy/place-order-request.json", good).ok, true);
    assert.is(validator.schema("media-buy/place-order-request.json", bad).ok, false);
    const { validator: compiled } = await import(path.join(out, "1.2.3/validators/index.ts"));
    assert.is(compiled.request("place_order", good).ok, true);
    assert.equal(compiled.request("place_order", bad), validator.request("place_order", bad));
  });
}

test("names longer than a file's may be, and tools called as the index, are generated", async () => {
  const files = smallRelease();
  // biome-ignore lint/suspicious/noExplicitAny: a test reaches into JSON it wrote itself
  const { tools } = files["manifest.json"] as any;
  const long = "a_very_long_name_".repeat(16);
  const names = [`${long}a`, `${long}b`, "index", "index_tool"];
  const paths = ["a", "b", "c"].map((name) => `${`${long}/`.slice(0, 240)}/${long.slice(0, 200)}/${name}/same.json`);
  for (const file of paths) files[file] = { type: "object", properties: { [file.at(-11)!]: { type: "string" } } };
  for (const [index, name] of names.entries())
    tools[name] = {
      ...tools.list_orders,
      ...(paths[index] !== undefined && { request_schema: paths[index] }),
      specialisms: [],
    };
  const out = outputFolder();
  const { ok } = await generate([writeRelease(files)], { out, standalone: true });
  assert.is(ok, true);
  const { release } = await import(path.join(out, "1.2.3/index.ts"));
  const { validator: compiled } = await import(path.join(out, "1.2.3/validators/index.ts"));
  const validator = await createValidator(release);
  for (const [index, name] of names.entries()) {
    assert.is(release.tools[name].name, name);
    if (paths[index] === undefined) continue;
    for (const by of [validator, compiled])
      assert.equal(
        ["a", "b", "c"].map((key) => by.request(name, { [key]: 1 }).ok),
        [0, 1, 2].map((other) => other !== index),
      );
  }
});

test.run();
