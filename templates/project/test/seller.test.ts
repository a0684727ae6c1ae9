/** The seller as its callers see it: every answer is judged by the release's schemas. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { openMySeller } from "../src/seller.js";

const folder = mkdtempSync(path.join(tmpdir(), "seller-"));
const database = `sqlite:${path.join(folder, "seller.db")}`;
const { seller, close } = await openMySeller({ database, baseUrl: "http://127.0.0.1:3000", mode: "development" });

after(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

test("it says what it can do", async () => {
  const args = {};
  const tool = "get_agent_capabilities";
  const answer = await seller.call({ tool, args, transport: "mcp", identity: { principal: "buyer" } });
  assert.equal(answer.failed, false, JSON.stringify(answer.payload));
  assert.ok(Array.isArray(answer.payload.specialisms));
});
