/** The reference behaviours as a project runs them, on a database of their own, called without a transport. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import path from "node:path";
import type { JsonObject } from "../../runtime/contract/index.js";
import { openSeller } from "../../templates/seller/seller.js";
import { tempFolder } from "../support/release.js";

const folder = tempFolder();

/** Answers of the reference behaviours; what they say is judged by the release's schemas before it gets here. */
export interface TemplateSeller {
  readonly seller: Awaited<ReturnType<typeof openSeller>>["seller"];
  /** The answer of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every tool
  ask(tool: string, args: object, principal?: string): Promise<any>;
  /** The code and field of a call that must fail. */
  refused(tool: string, args: object, principal?: string): Promise<{ code: string; field?: string; message: string }>;
  close(): Promise<void>;
}

/** @param database a store's URL; a file of its own by default */
export async function templateSeller(
  database = `sqlite:${path.join(folder, `${randomUUID()}.db`)}`,
): Promise<TemplateSeller> {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const { seller, close } = await openSeller({
    database,
    baseUrl: "http://127.0.0.1:3000",
    mode: "development",
    key: { ...jwk, kid: "test", alg: "EdDSA", use: "sig" } as never,
  });
  const call = (tool: string, args: object, principal = "buyer") =>
    seller.call({ tool, args, transport: "mcp", identity: { principal } });
  return {
    seller,
    close,
    async ask(tool, args, principal) {
      const { failed, payload } = await call(tool, args, principal);
      if (failed) throw new Error(`${tool}: ${JSON.stringify(payload.errors)}`);
      return payload;
    },
    async refused(tool, args, principal) {
      const { failed, payload } = await call(tool, args, principal);
      if (!failed) throw new Error(`${tool} answered ${JSON.stringify(payload)}`);
      return (payload.errors as JsonObject[])[0] as never;
    },
  };
}

/** A key for a call that changes something. */
export const key = (): { idempotency_key: string } => ({ idempotency_key: randomUUID() });

export const account = (domain = "acmeoutdoor.example", operator = "pinnacle.example") => ({
  account: { brand: { domain }, operator },
});
