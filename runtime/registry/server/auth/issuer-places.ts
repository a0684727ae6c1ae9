/** Where the embedded issuer is found, and what it grants: said of it where it is not loaded too. */

export const scopes = ["openid", "profile", "email"] as const;

export const issuerPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  jwks: "/oauth/jwks",
  revocation: "/oauth/revoke",
  interaction: "/oauth/interaction",
} as const;

/** Names the grant of an access token, in the token. */
export const GRANT_CLAIM = "grant";

/** Where a browser may be sent after a form: the application's own address, or its scheme. */
export function formTarget(redirectUri: string): string {
  if (!URL.canParse(redirectUri)) return "";
  const { protocol, origin } = new URL(redirectUri);
  return protocol === "http:" || protocol === "https:" ? origin : protocol;
}
