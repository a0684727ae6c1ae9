/** Settings of a seller from the environment, as a container gives them. */
import { mkdirSync } from "node:fs";
import { isIP } from "node:net";
import { transportNames } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { isLogLevel, jsonLog, type Logger, logLevels } from "../log.js";
import { issuerKeysUrl } from "../net/issuer.js";
import { type AuthHook, jwtAuth, tokenAuth } from "../seller/index.js";
import { keysOfFile, type NamedKey } from "./key-files.js";

/** Names as in the environment; what is left out has a default for development. */
export interface SellerEnvironment {
  /** Default 3000; 0, any that is free, wants a BASE_URL. */
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
  /** OAuth issuer whose access tokens callers send, as its metadata state it; their audience is an endpoint's URL. */
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
    ...(ORIGINS !== undefined && { origins: originsOf(ORIGINS) }),
    ...(TRUST_PROXY !== undefined && { trustProxy: trustedBy(TRUST_PROXY) }),
    // Standard output is the application's.
    ...(LOG_LEVEL !== undefined && { logger: jsonLog({ level: LOG_LEVEL, to: 2 }) }),
  };
}

const bad = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("seller_option_invalid", what, { where, remedy });

/** As browsers send them: one that is written otherwise would be no page's. */
const originsOf = (text: string): string[] =>
  listOf(text).map((one) => {
    const { origin = "null", href } = URL.parse(one) ?? {};
    if (origin !== "null" && href === `${origin}/`) return origin;
    throw bad("ORIGINS", `${one} is no origin`, "give scheme and host, such as https://app.example");
  });

/** Names of networks that proxies are in, beside their addresses. */
const networks: ReadonlySet<string> = new Set(["loopback", "linklocal", "uniquelocal"]);

function trustedBy(text: string): true | string[] {
  if (text === "true") return true;
  const proxies = listOf(text);
  const wrong = proxies.find((one) => {
    const [address = "", bits = "0", ...rest] = one.split("/");
    const isNetwork = /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128) && rest.length === 0;
    return !networks.has(one) && (isIP(address) === 0 || !isNetwork);
  });
  if (wrong === undefined) return proxies;
  const remedy = `give addresses or networks of proxies, such as 10.0.0.0/8 or ${[...networks].join(", ")}; or true`;
  throw bad("TRUST_PROXY", `${wrong} is no address`, remedy);
}

/** What is set and empty would stand for nothing, or for everybody: neither is what was meant. */
function refuseEmpty(environment: SellerEnvironment): void {
  for (const name of names) {
    if (environment[name]?.trim() === "") throw bad(name, `${name} is set, and empty`, "give a value, or leave it out");
  }
}

const names = [
  ...["PORT", "HOST", "BASE_URL", "MODE", "DATA", "DATABASE_URL", "SIGNING_KEY", "RESPONSE_SIGNING_KEY"],
  ...["TOKENS", "ISSUER", "METRICS_TOKEN", "ORIGINS", "TRUST_PROXY", "LOG_LEVEL"],
] as readonly (keyof SellerEnvironment)[];

const MOST_PORT = 65_535;

/** Where callers on this machine reach it. */
function plainUrl(host: string, port: string): string {
  if (Number(port) === 0)
    throw bad("PORT", "nobody is told which port is taken", "give a port, or a BASE_URL beside 0");
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** @throws AdbindError `seller_option_invalid` for a value that cannot be used, such as an empty one */
export async function fromEnvironment(environment: SellerEnvironment): Promise<EnvironmentSettings> {
  refuseEmpty(environment);
  const { PORT = "3000", HOST = "127.0.0.1", DATA = "data", MODE = "development" } = environment;
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > MOST_PORT)
    throw bad("PORT", `${PORT} is no port`, "give a number such as 3000");
  const { BASE_URL = plainUrl(HOST, PORT), DATABASE_URL, SIGNING_KEY, TOKENS, ISSUER } = environment;
  if (MODE !== "development" && MODE !== "production")
    throw bad("MODE", `there is no mode ${MODE}`, "give development or production");
  if (DATABASE_URL === undefined) mkdirSync(DATA, { recursive: true });
  const auth = ISSUER === undefined ? tokensOf(TOKENS) : await issuedBy(ISSUER, BASE_URL);
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

/** Every URL that callers may have their tokens made out to: those of each transport, for older releases too. */
const audiencesAt = (baseUrl: string): string[] =>
  ["", "/legacy"].flatMap((at) => transportNames.map((one) => `${baseUrl.replace(/\/+$/, "")}${at}/${one}`));

/** Access tokens of an OAuth issuer, by its published metadata. */
async function issuedBy(issuer: string, baseUrl: string): Promise<AuthHook> {
  const { createRemoteJWKSet } = await import("jose");
  const remedy = "give the issuer's URL as its metadata state it";
  if (!URL.canParse(issuer)) throw bad("ISSUER", `${issuer} is no URL`, remedy);
  let keys: string;
  try {
    keys = await issuerKeysUrl(issuer, fetch);
  } catch (cause) {
    throw bad("ISSUER", `keys of ${issuer} cannot be found: ${(cause as Error).message}`, remedy);
  }
  return jwtAuth({ issuer, audience: audiencesAt(baseUrl), keys: createRemoteJWKSet(new URL(keys)) });
}
