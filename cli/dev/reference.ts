/** Development only, as `./run reference`: docs/reference/ anew. `test/docs/reference.test.ts` holds it to the sources. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { referencePages } from "./reference/pages.js";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(root, "docs/reference");

const pages = await referencePages(root);
rmSync(folder, { recursive: true, force: true });
for (const { file, text } of pages) {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}
console.error(`docs/reference: ${pages.length} pages written`);
