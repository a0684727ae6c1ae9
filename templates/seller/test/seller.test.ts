/** What holds for every tool: an answer to anything, the context back, errors that say what they are. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "adbind/contract";
import { release } from "#bindings";
import { specialisms } from "../specialisms.js";
import { tools } from "../tools/index.js";
import { codeOf, openTestSeller } from "./caller.js";

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

test("what is claimed is declared, and has its tools", () => {
  const { specialisms: declared } = seller.seller.capabilities;
  assert.deepEqual(
    declared,
    specialisms.map((id) => id.replaceAll("_", "-")),
  );
  for (const id of specialisms)
    for (const tool of release.specialisms[id].entryPoints) assert.ok(tool in tools || tool.startsWith("get_"), tool);
});

for (const tool of Object.keys(tools)) {
  test(`${tool} answers`, async () => {
    const context = { trace: tool };
    const payload: JsonObject = await seller.call(tool, { context });
    assert.deepEqual(payload.context, context);
    if (payload.errors !== undefined) assert.match(String(codeOf(payload)), /^[A-Z][A-Z_]+$/);
  });
}
