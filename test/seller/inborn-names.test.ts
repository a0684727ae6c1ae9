/** A tool may be called as every object has something: `constructor`. Whoever leaves it out leaves it out. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import type { Release, Tool } from "../../runtime/contract/index.js";
import type { ReceiverHandlers } from "../../runtime/receiver/index.js";
import { createSeller, type SellerHandlers } from "../../runtime/seller/index.js";
import { userProject } from "../support/project.js";
import { changedRelease } from "../support/release.js";

type Named = { readonly constructor: Tool<"constructor", { readonly a: string }, { completed: { b: string } }> };

test("handlers of a release with a tool called constructor may leave it out, and may have it", () => {
  const none: SellerHandlers<Named> = {};
  const own: SellerHandlers<Named> = { constructor: ({ a }) => ({ status: "completed", data: { b: a } }) };
  const received: ReceiverHandlers<Named, unknown>["tools"] = {};
  assert.equal(
    [none, own, received].map((one) => Object.hasOwn(one ?? {}, "constructor")),
    [false, true, false],
  );
});

test("a seller offers a tool called constructor in the releases that have it, and another of its releases has none", async () => {
  const out = path.join(userProject(), "bindings");
  const made = async (version: string, named: boolean): Promise<Release> => {
    const source = changedRelease(({ "manifest.json": manifest, "media-buy/list-orders-request.json": request }) => {
      request.properties = { limit: { type: "integer" } };
      manifest.proto_version = version;
      if (named) manifest.tools.constructor = { ...manifest.tools.list_orders, specialisms: [] };
    });
    assert.is((await generate([source], { out })).ok, true);
    return (await import(path.join(out, version, "index.ts"))).release;
  };
  const release = await made("1.3.0", true);
  const releases = [await made("1.2.3", false)];
  const tools = { constructor: async () => ({ status: "completed", data: {} }) } as never;
  const seller = await createSeller({ release, releases, tools, mode: "development" });
  try {
    const url = `${await seller.start()}/mcp`;
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const listed = await (await fetch(url, { method: "POST", headers, body })).text();
    assert.match(listed, /"name":"constructor"/);
    const call = { name: "constructor", arguments: { limit: "many" } };
    const asked = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call });
    const refused = await (await fetch(url, { method: "POST", headers, body: asked })).text();
    assert.match(refused, "INVALID_REQUEST", "what is wrong with a request is told as of any tool");
  } finally {
    await seller.close();
  }
});

test.run();
