/** The registry client of the official TypeScript SDK: every method works, or says that it is not offered. */
import { existsSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { judgeCall } from "./registry/cells.js";
import { typescriptCells } from "./registry/typescript.js";
import { openRegistryWorld } from "./registry/world.js";

const clients = suite("registry clients");

clients('none is told "not known" of what is not offered; replicas follow grants and their ends', async () => {
  if (!existsSync(new URL("peer/node_modules/@adcp/sdk/package.json", import.meta.url))) return;
  const world = await openRegistryWorld();
  try {
    const cells = await typescriptCells(world);
    assert.equal(
      cells.filter(({ verdict }) => verdict === "FAILED"),
      [],
    );
    const works = cells.filter(({ verdict }) => verdict === "works").map(({ method }) => method);
    for (const method of ["lookupBrand", "lookupPropertiesAll", "getFeed", "RegistrySync", "PropertyRegistry"])
      assert.ok(works.includes(method), method);
  } finally {
    await world.close();
  }
});

clients("a null where something is known fails, and so does any other error", () => {
  assert.is(judgeCall({ method: "m", outcome: "nothing", detail: "" }).verdict, "FAILED");
  assert.is(judgeCall({ method: "m", outcome: "threw", detail: "failed (404)" }).verdict, "FAILED");
  assert.is(judgeCall({ method: "m", outcome: "threw", detail: "", status: 501 }).verdict, "not offered");
});

clients.run();
