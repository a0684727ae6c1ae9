/** Makes the seller listen. Settings come from the environment; see README.md. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AuthHook, jwtAuth, tokenAuth } from "adbind/seller";
import { openSeller } from "./seller.js";

const {
  PORT = "3000",
  HOST = "127.0.0.1",
  DATA = "data",
  MODE = "development",
  BASE_URL,
  DATABASE_URL,
  ISSUER,
  SIGNED_FROM,
  SIGNING_STEPS,
  TOKENS,
  SIGNING_KEY = `${DATA}/signing-key.json`,
} = process.env;

/** The key that signs webhooks: made at the first start, readable by its owner alone. */
function signingKey(file: string): object & { kid: string } {
  if (!existsSync(file)) {
    const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const kid = `key-${Date.now()}`;
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ ...jwk, kid, alg: "EdDSA", use: "sig" }), { mode: 0o600, flag: "wx" });
    try {
      // Processes that start together agree on the first one's, whole.
      linkSync(draft, file);
    } catch (error) {
      if (!existsSync(file)) throw error;
    } finally {
      rmSync(draft);
    }
  }
  return JSON.parse(readFileSync(file, "utf8")) as object & { kid: string };
}

const baseUrl = BASE_URL ?? `http://${HOST}:${PORT}`;

/** Access tokens of an OAuth issuer, or tokens that were handed out, or nobody is asked who they are. */
async function authOf(): Promise<AuthHook | undefined> {
  if (ISSUER === undefined) return TOKENS === undefined ? undefined : tokenAuth({ tokens: JSON.parse(TOKENS) });
  const { createRemoteJWKSet } = await import("jose");
  const metadata = await fetch(`${ISSUER}/.well-known/oauth-authorization-server`);
  const { issuer, jwks_uri } = (await metadata.json()) as { issuer: string; jwks_uri: string };
  return jwtAuth({ issuer, audience: `${baseUrl}/mcp`, keys: createRemoteJWKSet(new URL(jwks_uri)) });
}

const auth = await authOf();
mkdirSync(DATA, { recursive: true });
const { seller, close } = await openSeller({
  database: DATABASE_URL ?? `sqlite:${DATA}/seller.db`,
  baseUrl,
  mode: MODE === "production" ? "production" : "development",
  key: signingKey(SIGNING_KEY),
  ...(SIGNED_FROM !== undefined && { signedFrom: Number(SIGNED_FROM) }),
  signingSteps: SIGNING_STEPS === "1",
  ...(auth !== undefined && { auth }),
});
const address = await seller.start({ port: Number(PORT), host: HOST });
process.stdout.write(`${address}/mcp\n`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () =>
    close().catch((error: unknown) => {
      process.stderr.write(`The seller did not stop in order: ${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    }),
  );
}
