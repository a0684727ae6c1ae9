/** What tests share: a seller on a database of its own, and calls to it without a transport. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "adbind/contract";
import { openAuth } from "adbind/seller";
import { openSeller } from "../seller.js";

export const principal = "tester";

export async function openTestSeller(mode: "development" | "production" = "development") {
  const folder = mkdtempSync(path.join(tmpdir(), "seller-"));
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const opened = await openSeller({
    database: `sqlite:${path.join(folder, "seller.db")}`,
    baseUrl: mode === "development" ? "http://127.0.0.1:3000" : "https://seller.example",
    mode,
    key: { ...jwk, kid: "test" },
    // Calls here say themselves who calls.
    auth: openAuth,
  });
  const { seller, callFor } = opened;
  const ask = async (tool: string, args: JsonObject): Promise<JsonObject> => {
    const { payload } = await seller.call({ tool, args, transport: "mcp", identity: { principal } });
    return payload;
  };
  return {
    seller,
    callFor,
    /** Answers a call; a mutating one gets a key of its own unless it brings one. */
    call: (tool: string, args: JsonObject): Promise<JsonObject> =>
      ask(tool, { idempotency_key: randomUUID(), ...args }),
    /** As `call`, for tools that change nothing and take no key. */
    read: ask,
    async close(): Promise<void> {
      await opened.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Code of the first error of an answer. */
export const codeOf = (payload: JsonObject): unknown => (payload.errors as JsonObject[] | undefined)?.[0]?.code;
