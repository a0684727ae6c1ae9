/** A seller as `adbind new seller` makes it, served from source. */
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { adbind, root, type Started, start } from "./processes.js";

export interface RunningSeller extends Started {
  readonly name: string;
  readonly database: string;
  /** Its MCP address, by which it is known. */
  readonly agentUrl: string;
  readonly brandUrl: string;
}

/** Scaffolds a project that claims `sales_guaranteed`; adbind is linked instead of installed. */
export async function scaffoldSeller(folder: string, release: string): Promise<void> {
  await adbind(["new", "seller", folder, "--specialism", "sales_guaranteed", "--release", release]);
  mkdirSync(path.join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  symlinkSync(path.join(root, "node_modules/jose"), path.join(folder, "node_modules/jose"));
  symlinkSync(path.join(root, "node_modules/@types/node"), path.join(folder, "node_modules/@types/node"));
}

export interface SellerPlan {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** `sqlite:<file>` or `postgres://...` */
  readonly database: string;
  /** Orders from this much on wait for a human. */
  readonly signedFrom: number;
}

export async function startSeller({ name, folder, port, database, signedFrom }: SellerPlan): Promise<RunningSeller> {
  const started = await start("src/serve.ts", [], {
    cwd: folder,
    env: {
      ...{ PORT: String(port), DATABASE_URL: database, DATA: path.join(folder, "data") },
      ...{ SIGNED_FROM: String(signedFrom), SIGNING_STEPS: "1" },
    },
    ready: /\/mcp$/,
  });
  const origin = new URL(started.line).origin;
  return { ...started, name, database, agentUrl: `${origin}/mcp`, brandUrl: `${origin}/.well-known/brand.json` };
}
