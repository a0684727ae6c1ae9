/** A seller that is called over one transport alone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSeller, type SellerOptions } from "../../runtime/seller/index.js";

const over = (transports: SellerOptions["transports"]) =>
  createSeller({
    release,
    ...(transports !== undefined && { transports }),
    tools: { get_products: (_request, ctx) => ctx.complete({ products: [] }) },
  });

const call = { jsonrpc: "2.0", id: 1, method: "tools/list" };

for (const [transports, there, gone] of [
  [["mcp"], "/mcp", "/a2a"],
  [["a2a"], "/a2a", "/mcp"],
] as const)
  test(`over ${transports} alone nothing else is served, and nothing else is published`, async () => {
    const { app, close } = await over(transports);
    const post = (url: string) => app.inject({ method: "POST", url, payload: call });
    const agents = await app.inject(`/.well-known/${release.word}-agents.json`);
    assert.is((await post(gone)).statusCode, 404);
    assert.is.not((await post(there)).statusCode, 404);
    assert.match(agents.body, there);
    assert.not.match(agents.body, gone);
    await close();
  });

test("over all of them where nothing is said", async () => {
  const { app, close } = await over(undefined);
  for (const url of ["/mcp", "/a2a"])
    assert.is.not((await app.inject({ method: "POST", url, payload: call })).statusCode, 404);
  await close();
});

test("over none, or one that there is not, is refused", async () => {
  for (const transports of [[], ["telex"]] as never[]) {
    const error = await over(transports).catch((caught) => caught);
    assert.instance(error, AdbindError);
    assert.match(error.message, /transports.*mcp/);
  }
});

test.run();
