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

for (const folder of ["core é x", "co%20re", "c+o.re~1", "CORE"]) {
  test(`a folder called ${folder} is generated, compiled and validated`, async () => {
    const project = tempFolder();
    mkdirSync(path.join(project, "node_modules"));
    symlinkSync(root, path.join(project, "node_modules/adbind"));
    writeFileSync(path.join(project, "package.json"), '{"type":"module"}');
    const out = path.join(project, "bindings");
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

test.run();
