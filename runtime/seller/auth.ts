/** Ready-made ways to know a caller. */
import { createHash, timingSafeEqual } from "node:crypto";
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import type { AuthHook, AuthRequest, Identity } from "./types.js";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares with every token, so that time tells nothing. */
function holderOf(tokens: readonly (readonly [Buffer, string])[], given: string): Identity | undefined {
  const wanted = digest(given);
  let found: string | undefined;
  for (const [token, principal] of tokens) if (timingSafeEqual(token, wanted)) found = principal;
  return found === undefined ? undefined : { principal: found };
}

/** A header of official clients: `x-<word>-auth`, by the protocol's word. */
const OF_CLIENTS = /^x-[a-z]+-auth$/;

/** What comes in a header for API keys. */
export const apiKey = (headers: AuthRequest["headers"]): AuthRequest["headers"][string] =>
  headers["x-api-key"] ?? headers[Object.keys(headers).find((name) => OF_CLIENTS.test(name)) ?? ""];

/** Tokens that are accepted, each with its principal. */
export interface TokenAuthOptions {
  /** Token or API key -> who holds it. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Header an API key may also come in, in lower case; `x-api-key`, and `x-<word>-auth` as official clients send it, by default. */
  readonly header?: string;
}

/**
 * Bearer tokens (RFC 6750) and API keys: `Authorization: Bearer <token>`, or the token alone in a header of its own.
 * A signed request needs no token: its signer is the principal.
 */
export function tokenAuth({ tokens, header }: TokenAuthOptions): AuthHook {
  const known = Object.entries(tokens).map(([token, principal]) => [digest(token), principal] as const);
  return {
    authenticate({ headers, signer }: AuthRequest) {
      const bearer = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
      const key = header === undefined ? apiKey(headers) : headers[header];
      const given = bearer ?? (typeof key === "string" ? key : undefined);
      if (given !== undefined) return holderOf(known, given);
      return signer === undefined ? undefined : { principal: signer.agentUrl };
    },
  };
}

/** Whose tokens are accepted, for which audience, verified with which keys. */
export interface JwtAuthOptions {
  /** Issuer of the tokens, as in their `iss`; callers find it in the resource's metadata. */
  readonly issuer: string;
  /** What the tokens' `aud` must be: the URL callers call. */
  readonly audience: string | readonly string[];
  /** The issuer's keys, as `jose` gives them: `createRemoteJWKSet(new URL(...))`, `createLocalJWKSet(...)`. */
  readonly keys: JWTVerifyGetKey;
  /** Scopes a token must have, all of them. */
  readonly scopes?: readonly string[];
  /** Who a token stands for; its `client_id`, else its `sub`, by default. */
  readonly principalOf?: (claims: JWTPayload) => string | undefined;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Access tokens of an OAuth 2 issuer (RFC 9068), bound to this seller by their audience (RFC 8707). */
export function jwtAuth(options: JwtAuthOptions): AuthHook {
  const { issuer, audience, keys, scopes = [], now = Date.now } = options;
  const principalOf =
    options.principalOf ?? (({ client_id: client, sub }) => (typeof client === "string" ? client : sub));
  return {
    authorizationServers: [issuer],
    ...(scopes.length > 0 && { scopes }),
    async authenticate({ headers }) {
      const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
      if (token === undefined) return undefined;
      const claims = await claimsOf(token, keys, {
        issuer,
        audience: typeof audience === "string" ? audience : [...audience],
        currentDate: new Date(now()),
      });
      const granted = typeof claims?.scope === "string" ? claims.scope.split(" ") : [];
      if (claims === undefined || !scopes.every((scope) => granted.includes(scope))) return undefined;
      const principal = principalOf(claims);
      return principal === undefined ? undefined : { principal };
    },
  };
}

/** Undefined for a token that is not good; keys that cannot be reached are the caller's 500. */
async function claimsOf(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions) {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return undefined;
    throw error;
  }
}

/** Requests that are signed, and nobody else; needs `requestSigning`. */
export const signatureAuth = (): AuthHook => ({
  challenge: "Signature",
  authenticate: ({ signer }) => (signer === undefined ? undefined : { principal: signer.agentUrl }),
});

/** Whom nobody knows: all of them are one principal. */
export const ANONYMOUS = "anonymous";

/** What everybody is without an `auth` option: the signer of a signed request, else one and the same. */
export const openAuth: AuthHook = {
  authenticate: ({ signer }) => ({ principal: signer?.agentUrl ?? ANONYMOUS }),
};
