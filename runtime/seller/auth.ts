/** Ready-made ways to know a caller. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthHook, AuthRequest, Identity } from "./types.js";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares with every token, so that time tells nothing. */
function holderOf(tokens: readonly (readonly [Buffer, string])[], given: string): Identity | undefined {
  const wanted = digest(given);
  let found: string | undefined;
  for (const [token, principal] of tokens) if (timingSafeEqual(token, wanted)) found = principal;
  return found === undefined ? undefined : { principal: found };
}

export interface TokenAuthOptions {
  /** Token or API key -> who holds it. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Header an API key may also come in, in lower case. Default `x-api-key`. */
  readonly header?: string;
}

/**
 * Bearer tokens (RFC 6750) and API keys: `Authorization: Bearer <token>`, or the token alone in a header of its own.
 * A signed request needs no token: its signer is the principal.
 */
export function tokenAuth({ tokens, header = "x-api-key" }: TokenAuthOptions): AuthHook {
  const known = Object.entries(tokens).map(([token, principal]) => [digest(token), principal] as const);
  return {
    authenticate({ headers, signer }: AuthRequest) {
      const bearer = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
      const key = headers[header];
      const given = bearer ?? (typeof key === "string" ? key : undefined);
      if (given !== undefined) return holderOf(known, given);
      return signer === undefined ? undefined : { principal: signer.agentUrl };
    },
  };
}

/** Requests that are signed, and nobody else; needs `requestSigning`. */
export const signatureAuth = (): AuthHook => ({
  challenge: "Signature",
  authenticate: ({ signer }) => (signer === undefined ? undefined : { principal: signer.agentUrl }),
});

/** What everybody is without an `auth` option: the signer of a signed request, else one and the same. */
export const openAuth: AuthHook = {
  authenticate: ({ signer }) => ({ principal: signer?.agentUrl ?? "anonymous" }),
};
