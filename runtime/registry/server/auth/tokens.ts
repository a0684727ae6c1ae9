/**
 * Access tokens of OAuth 2.1 issuers: found by their metadata, verified with their keys
 * (docs/protocol/registry.md#credentials).
 */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { isPassingFault } from "../../../db/open.js";
import { AdbindError } from "../../../errors.js";
import { issuerKeysUrl } from "../../../net/issuer.js";
import type { TrustedIssuer } from "../trusted-issuer.js";

export type TokenResult =
  | { readonly ok: true; readonly issuer: TrustedIssuer; readonly claims: JWTPayload & { readonly sub: string } }
  /** `unavailable`: whether it is valid cannot be told now. */
  | { readonly ok: false; readonly reason: "invalid" | "expired" | "unavailable" };

export const tokenAlgorithms = ["ES256", "ES384", "EdDSA", "RS256", "PS256"] as const;
/** Clocks of issuers may be this far off, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Metadata are asked for anew after so long, in milliseconds; a failure is remembered for a tenth of a minute. */
const METADATA_MS = 3_600_000;
const FAILURE_MS = 6_000;
const METADATA_TIMEOUT_MS = 5_000;

export interface TokenVerifierOptions {
  readonly issuers: readonly TrustedIssuer[];
  /** Keys by issuer, for those that need not be asked over the network. */
  readonly localKeys?: ReadonlyMap<string, JWTVerifyGetKey>;
  /** Audience of issuers that name none. */
  readonly audience: string;
  readonly fetch?: typeof fetch;
  /** Clock in unix milliseconds. */
  readonly now?: () => number;
}

const checkedUrl = (issuer: string): URL => {
  const bad = (remedy: string) =>
    new AdbindError("registry_option_invalid", "an issuer cannot be used", { where: issuer, remedy });
  if (!URL.canParse(issuer)) throw bad("give its URL");
  const url = new URL(issuer);
  const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !loopback) throw bad("an issuer is reached by https");
  if (url.search !== "" || url.hash !== "") throw bad("an issuer's URL has no query and no fragment");
  return url;
};

function remoteKeys(issuer: string, fetcher: typeof fetch, now: () => number): JWTVerifyGetKey {
  let known: { keys: Promise<JWTVerifyGetKey>; until: number } | undefined;
  const load = async (): Promise<JWTVerifyGetKey> => {
    const url = new URL(await issuerKeysUrl(issuer, fetcher));
    return createRemoteJWKSet(url, { [customFetch]: fetcher, timeoutDuration: METADATA_TIMEOUT_MS });
  };
  return async (header, token) => {
    if (known === undefined || known.until <= now()) {
      const entry = { keys: load(), until: now() + METADATA_MS };
      entry.keys.catch(() => {
        entry.until = now() + FAILURE_MS;
      });
      known = entry;
    }
    return (await known.keys)(header, token);
  };
}

/** Errors that are the token's fault; anything else means that the issuer's keys could not be had. */
const ofToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== "ERR_JOSE_GENERIC";

const issuerOf = (token: string): string | undefined => {
  try {
    const payload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof payload?.iss === "string" ? payload.iss : undefined;
  } catch {
    return undefined;
  }
};

/**
 * @returns a function that judges a token; it never throws
 * @throws AdbindError `registry_option_invalid` for an issuer or an algorithm that cannot be used
 */
export function createTokenVerifier(options: TokenVerifierOptions): (token: string) => Promise<TokenResult> {
  const { localKeys, audience, fetch: fetcher = fetch, now = Date.now } = options;
  const trusted = new Map<string, { issuer: TrustedIssuer; keys: JWTVerifyGetKey; algorithms: string[] }>();
  for (const issuer of options.issuers) {
    checkedUrl(issuer.issuer);
    const algorithms = [...(issuer.algorithms ?? tokenAlgorithms)];
    const off = algorithms.find((one) => !(tokenAlgorithms as readonly string[]).includes(one));
    if (off !== undefined || algorithms.length === 0) {
      throw new AdbindError("registry_option_invalid", "an algorithm of an issuer cannot be used", {
        where: off ?? "none",
        remedy: `choose among ${tokenAlgorithms.join(", ")}`,
      });
    }
    const keys = localKeys?.get(issuer.issuer) ?? remoteKeys(issuer.issuer, fetcher, now);
    trusted.set(issuer.issuer, { issuer, keys, algorithms });
  }
  return async (token) => {
    const found = trusted.get(issuerOf(token) ?? "");
    if (found === undefined) return { ok: false, reason: "invalid" };
    try {
      const { payload } = await jwtVerify(token, found.keys, {
        issuer: found.issuer.issuer,
        audience: found.issuer.audience ?? audience,
        algorithms: found.algorithms,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now()),
        requiredClaims: ["exp", "sub"],
      });
      return { ok: true, issuer: found.issuer, claims: payload as JWTPayload & { sub: string } };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { ok: false, reason: "expired" };
      return { ok: false, reason: ofToken(error) && !isPassingFault(error) ? "invalid" : "unavailable" };
    }
  };
}
