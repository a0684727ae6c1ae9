/** The official TypeScript SDK's client as a buyer. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { tls } from "../../support/tls-terminator.js";
import { HOST, type LifeClient, type Lived, linesOf } from "./client.js";

const entry = path.resolve(import.meta.dirname, "../peer/node_modules/@adcp/sdk/dist/lib/index.js");
/** The line that the SDK under test/interop/peer is of. */
const LINE = "3.0";
/** Longest a life may take, in milliseconds: an order waits half a minute for its webhook at most. */
const LIMIT_MS = 120_000;

/** @returns the client, or why there is none */
export async function typescriptClient(): Promise<LifeClient | string> {
  if (!existsSync(entry)) return "@adcp/sdk is not installed under test/interop/peer";
  const script = path.join(import.meta.dirname, "typescript-client.mjs");
  const child = spawn(process.execPath, [script, HOST, entry], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: tls.certFile },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<object> => {
    const limit = setTimeout(() => child.kill(), LIMIT_MS);
    try {
      const { value, done } = await lines.next();
      if (done) throw new Error("the TypeScript client ended, or took too long");
      return JSON.parse(value) as object;
    } finally {
      clearTimeout(limit);
    }
  };
  const { name } = (await next()) as { name: string };
  return {
    name,
    // It speaks its own line only; told so, and by itself.
    lines: (versions) => (linesOf(versions).includes(LINE) ? [null] : []),
    async live(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return (await next()) as Lived;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
