/** Settings of a seller from the environment, as a container gives them. */
import { mkdirSync } from "node:fs";
import { AdbindError } from "../errors.js";
import { isLogLevel, jsonLog, type Logger, logLevels } from "../log.js";
import { type AuthHook, jwtAuth, tokenAuth } from "../seller/index.js";
import { keysOfFile, type NamedKey } from "./key-files.js";

/** Names as in the environment; what is left out has a default for development. */
export interface SellerEnvironment {
  /** Default 3000. */
  readonly PORT?: string | undefined;
  /** Default 127.0.0.1. */
  readonly HOST?: string | undefined;
  /** Where callers reach it; https in production. Default http://HOST:PORT. */
  readonly BASE_URL?: string | undefined;
  /** `production`, or development. */
  readonly MODE?: string | undefined;
  /** Folder of the database. Default `data`. */
  readonly DATA?: string | undefined;
  /** `postgres://user:password@host/database`; default `sqlite:DATA/seller.db`. */
  readonly DATABASE_URL?: string | undefined;
  /**
   * File of the private key that signs webhooks: as `adbind keys generate` writes it, or a JWK. Of several the newest signs, and all
   * are published. Required in production.
   */
  readonly SIGNING_KEY?: string | undefined;
  /** File of the private key that signs what brands say to claims, of the same kind. */
  readonly RESPONSE_SIGNING_KEY?: string | undefined;
  /** JSON of token -> who holds it; sent as bearer token or `x-api-key`. */
  readonly TOKENS?: string | undefined;
  /** OAuth issuer whose access tokens callers send. */
  readonly ISSUER?: string | undefined;
  /** Bearer token of /metrics, which production serves to nobody else. */
  readonly METRICS_TOKEN?: string | undefined;
  /** Origins of browser pages that may call, by commas. */
  readonly ORIGINS?: string | undefined;
  /** Addresses of proxies whose forwarding headers are believed, by commas; `true` for all. */
  readonly TRUST_PROXY?: string | undefined;
  /** `info` by default in production, else `warn`. */
  readonly LOG_LEVEL?: string | undefined;
}

/** What a scaffolded seller reads from its environment. */
export interface EnvironmentSettings {
  readonly listen: { readonly port: number; readonly host: string };
  readonly baseUrl: string;
  readonly mode: "development" | "production";
  readonly database: string;
  readonly key?: NamedKey;
  readonly formerKeys?: readonly NamedKey[];
  readonly responseKey?: NamedKey;
  readonly auth?: AuthHook;
  readonly metrics?: { readonly token: string };
  readonly origins?: readonly string[];
  readonly trustProxy?: true | string[];
  readonly logger?: Logger;
}

const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

/** What is optional of them, and says nothing where it is not there. */
function more({
  METRICS_TOKEN,
  ORIGINS,
  TRUST_PROXY,
  LOG_LEVEL,
  RESPONSE_SIGNING_KEY,
}: SellerEnvironment): Partial<EnvironmentSettings> {
  if (LOG_LEVEL !== undefined && !isLogLevel(LOG_LEVEL))
    throw bad("LOG_LEVEL", `there is no level ${LOG_LEVEL}`, `give one of ${Object.keys(logLevels).join(", ")}`);
  return {
    ...(RESPONSE_SIGNING_KEY !== undefined && {
      responseKey: keysOfFile("RESPONSE_SIGNING_KEY", RESPONSE_SIGNING_KEY).key,
    }),
    ...(METRICS_TOKEN !== undefined && { metrics: { token: METRICS_TOKEN } }),
    ...(ORIGINS !== undefined && { origins: listOf(ORIGINS) }),
    ...(TRUST_PROXY !== undefined && { trustProxy: TRUST_PROXY === "true" ? true : listOf(TRUST_PROXY) }),
    // Standard output is the application's.
    ...(LOG_LEVEL !== undefined && { logger: jsonLog({ level: LOG_LEVEL, to: 2 }) }),
  };
}

const bad = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("seller_option_invalid", what, { where, remedy });

/** @throws AdbindError `seller_option_invalid` for a value that cannot be used */
export async function fromEnvironment(environment: SellerEnvironment): Promise<EnvironmentSettings> {
  const { PORT = "3000", HOST = "127.0.0.1", DATA = "data", MODE = "development" } = environment;
  const { BASE_URL = `http://${HOST}:${PORT}`, DATABASE_URL, SIGNING_KEY, TOKENS, ISSUER } = environment;
  if (!/^\d{1,5}$/.test(PORT)) throw bad("PORT", `${PORT} is no port`, "give a number such as 3000");
  if (MODE !== "development" && MODE !== "production")
    throw bad("MODE", `there is no mode ${MODE}`, "give development or production");
  if (DATABASE_URL === undefined) mkdirSync(DATA, { recursive: true });
  const auth = ISSUER === undefined ? tokensOf(TOKENS) : await issuedBy(ISSUER, `${BASE_URL}/mcp`);
  return {
    listen: { port: Number(PORT), host: HOST },
    baseUrl: BASE_URL,
    mode: MODE,
    database: DATABASE_URL ?? `sqlite:${DATA}/seller.db`,
    ...(SIGNING_KEY !== undefined && signingKeys(SIGNING_KEY)),
    ...(auth !== undefined && { auth }),
    ...more(environment),
  };
}

function signingKeys(file: string): Pick<EnvironmentSettings, "key" | "formerKeys"> {
  const { key, former } = keysOfFile("SIGNING_KEY", file);
  return { key, ...(former.length > 0 && { formerKeys: former }) };
}

function tokensOf(text: string | undefined): AuthHook | undefined {
  if (text === undefined) return undefined;
  const remedy = 'give JSON such as {"a long random token":"who holds it"}';
  let tokens: unknown;
  try {
    tokens = JSON.parse(text);
  } catch (cause) {
    throw bad("TOKENS", `the tokens cannot be used: ${(cause as Error).message}`, remedy);
  }
  const named = typeof tokens === "object" && tokens !== null && !Array.isArray(tokens) ? Object.values(tokens) : [];
  if (named.length === 0 || !named.every((one) => typeof one === "string" && one !== ""))
    throw bad("TOKENS", "the tokens name nobody", remedy);
  return tokenAuth({ tokens: tokens as Record<string, string> });
}

/** How long the issuer may take to answer at the start, in milliseconds. */
const ISSUER_MS = 10_000;

/** Access tokens of an OAuth issuer, by its published metadata. */
async function issuedBy(url: string, audience: string): Promise<AuthHook> {
  const { createRemoteJWKSet } = await import("jose");
  try {
    const signal = AbortSignal.timeout(ISSUER_MS);
    const answer = await fetch(`${url}/.well-known/oauth-authorization-server`, { signal });
    const { issuer, jwks_uri } = (await answer.json()) as { issuer: string; jwks_uri: string };
    return jwtAuth({ issuer, audience, keys: createRemoteJWKSet(new URL(jwks_uri)) });
  } catch (cause) {
    throw bad("ISSUER", `${url} has no metadata: ${(cause as Error).message}`, "give the issuer's URL as it states it");
  }
}
