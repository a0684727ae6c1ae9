/** Whether an account has to be there for who looks for offers: where a release says so, nothing is opened by looking. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import path from "node:path";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { openSeller } from "../../runtime/behaviours/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import { tokenAuth } from "../../runtime/seller/index.js";
import { tempFolder } from "../support/release.js";

const folder = tempFolder();

const opening = (value: "naming" | "committing"): Release => {
  const provisioning = { value, from: "version" };
  return { ...release, facts: { ...release.facts, tools: { ...release.facts.tools, provisioning } } };
};

/** A seller, and how many accounts it was asked to open. */
async function counting(given: Release, mode: "development" | "production" = "production") {
  const asked = { count: 0 };
  const open = async <T>(account: T): Promise<T> => {
    asked.count += 1;
    return account;
  };
  const opened = await openSeller({
    release: given,
    specialisms: ["sales_guaranteed", "signal_marketplace"],
    database: `sqlite:${path.join(folder, `${randomUUID()}.db`)}`,
    baseUrl: "https://seller.example",
    name: "Test seller",
    mode,
    auth: tokenAuth({ tokens: { "a token": "buyer" } }),
    key: { ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid: "k1" } as never,
    logger: pino({ level: "silent" }),
    ports: { accounts: { open, billing: ["operator"] } },
  });
  const call = async (tool: string, args: JsonObject): Promise<string> => {
    const { failed, payload } = await opened.seller.call({
      ...{ tool, args, transport: "mcp", identity: { principal: "buyer" } },
    });
    return failed ? String((payload.errors as JsonObject[])[0]!.code) : "answered";
  };
  return { asked, call, close: () => opened.close() };
}

const account = { brand: { domain: "brand.example" }, operator: "brand.example" };
const looking: readonly [tool: string, args: JsonObject][] = [
  ["get_products", { buying_mode: "brief", brief: "sports" }],
  ["get_signals", { signal_spec: "sports", discovery_mode: "brief" }],
];

test("who looks for offers has no account opened for it, where the release has that done by what commits", async () => {
  const { asked, call, close } = await counting(opening("committing"));
  for (const [tool, args] of looking) {
    assert.is(await call(tool, { ...args, account }), "ACCOUNT_NOT_FOUND", tool);
    assert.is(await call(tool, { ...args, account: { account_id: "nobodys" } }), "ACCOUNT_NOT_FOUND", tool);
    assert.is(await call(tool, args), "answered", tool);
  }
  assert.is(asked.count, 0);
  const accounts = [{ ...account, billing: "operator" }];
  assert.is(await call("sync_accounts", { idempotency_key: randomUUID(), accounts }), "answered");
  for (const [tool, args] of looking) assert.is(await call(tool, { ...args, account }), "answered", tool);
  assert.is(asked.count, 1);
  await close();
});

test("in older releases, and in development, an account that is named is there", async () => {
  for (const [value, mode] of [
    ["naming", "production"],
    ["committing", "development"],
  ] as const) {
    const { call, close } = await counting(opening(value), mode);
    for (const [tool, args] of looking) assert.is(await call(tool, { ...args, account }), "answered", tool);
    await close();
  }
});

test.run();
