/** Who asks: an organization's API key or a user's access token (docs/protocol/registry.md#credentials). */
import type { OrganizationRow, RegistryAccess } from "../../../store/index.js";
import { Problem, unavailable } from "../problems.js";
import { hashKey, KEY_PREFIX } from "./accounts.js";
import { GRANT_CLAIM } from "./issuer-places.js";
import type { TokenResult } from "./tokens.js";

export interface Caller {
  /** Stable, for limits and logs; never the credential. */
  readonly id: string;
  readonly kind: "key" | "user";
  readonly organization: OrganizationRow | undefined;
}

export type ApiIdentity =
  | { readonly state: "anonymous" }
  | { readonly state: "known"; readonly caller: Caller }
  /** Credentials were sent and say nothing. */
  | { readonly state: "invalid"; readonly expired: boolean }
  | { readonly state: "suspended" }
  | { readonly state: "unavailable" };

export interface IdentifyOptions {
  readonly access: RegistryAccess;
  readonly verifyToken: (token: string) => Promise<TokenResult>;
  /** Issuer of local accounts; undefined where there is none. */
  readonly localIssuer: string | undefined;
  /** Clock in unix milliseconds. */
  readonly now: () => number;
}

/** How often `last_used` of a key is written, in milliseconds: it is for people, who need no more. */
const USED_MS = 60_000;
/** Longer than any key or token: what is longer is not looked at. */
const MAX_CHARACTERS = 8_192;

const invalid: ApiIdentity = { state: "invalid", expired: false };

async function byKey(text: string, { access, now }: IdentifyOptions): Promise<ApiIdentity> {
  const held = await access.keys.byHash(hashKey(text));
  if (held === undefined || held.key.revoked !== null) return invalid;
  const { key, organization } = held;
  if (key.suspended !== 0 || organization === undefined || organization.suspended !== 0) return { state: "suspended" };
  if (key.last_used === null || key.last_used + USED_MS <= now()) await access.keys.used(key.id, now());
  return { state: "known", caller: { id: `key:${key.id}`, kind: "key", organization } };
}

async function organizationOf(access: RegistryAccess, id: unknown): Promise<OrganizationRow | undefined> {
  return typeof id === "string" ? access.organizations.get(id) : undefined;
}

/** A token by itself is good for its hour; what it was given by may have been taken back. */
const grantStands = async (access: RegistryAccess, grant: unknown, now: number): Promise<boolean> =>
  typeof grant === "string" && (await access.issuer.get("Grant", grant, now)) !== undefined;

async function byToken(token: string, options: IdentifyOptions): Promise<ApiIdentity> {
  const { access, verifyToken, localIssuer, now } = options;
  const result = await verifyToken(token);
  if (!result.ok) {
    if (result.reason === "unavailable") return { state: "unavailable" };
    return { state: "invalid", expired: result.reason === "expired" };
  }
  const { issuer, claims } = result;
  if (issuer.issuer === localIssuer) {
    const user = await access.users.get(claims.sub);
    if (user === undefined || !(await grantStands(access, claims[GRANT_CLAIM], now()))) return invalid;
    const organization = await organizationOf(access, user.organization);
    if (user.suspended !== 0 || organization?.suspended) return { state: "suspended" };
    return { state: "known", caller: { id: `user:${user.id}`, kind: "user", organization } };
  }
  const organization = await organizationOf(access, claims[issuer.organizationClaim ?? "org_id"]);
  if (organization?.suspended) return { state: "suspended" };
  return { state: "known", caller: { id: `user:${issuer.issuer} ${claims.sub}`, kind: "user", organization } };
}

/** Reads an `Authorization` header. What is not a bearer token is credentials nobody can check: invalid. */
export async function identify(header: string | undefined, options: IdentifyOptions): Promise<ApiIdentity> {
  if (header === undefined || header === "") return { state: "anonymous" };
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined || token.length > MAX_CHARACTERS) return invalid;
  return token.startsWith(KEY_PREFIX) ? byKey(token, options) : byToken(token, options);
}

const suspended = (): Problem => new Problem(403, "Account suspended", { code: "account_suspended" });

/** RFC 6750 section 3 and RFC 9728 section 5.1. Without credentials no error is named. */
const challenge = (resourceMetadata: string, identity: ApiIdentity): string => {
  const metadata = `resource_metadata="${resourceMetadata}"`;
  if (identity.state !== "invalid") return `Bearer ${metadata}`;
  const what = identity.expired ? "the token has expired" : "the credentials are not valid";
  return `Bearer error="invalid_token", error_description="${what}", ${metadata}`;
};

/**
 * @param resourceMetadata URL of the protected-resource metadata
 * @throws Problem 401 with a challenge, 403 for suspended accounts, 503 when the issuer cannot be asked
 */
export function requireCaller(identity: ApiIdentity, resourceMetadata: string): Caller {
  switch (identity.state) {
    case "known":
      return identity.caller;
    case "suspended":
      throw suspended();
    case "unavailable":
      throw unavailable("The token cannot be checked now", "issuer_unavailable");
    case "anonymous":
    case "invalid":
      throw new Problem(401, "Authentication required", {
        message: "Send Authorization: Bearer with an API key or an access token",
        headers: { "www-authenticate": challenge(resourceMetadata, identity) },
      });
  }
}

/** Where credentials are optional, those that are not valid count as none; a suspended account is refused all the same. */
export function optionalCaller(identity: ApiIdentity): Caller | undefined {
  if (identity.state === "suspended") throw suspended();
  return identity.state === "known" ? identity.caller : undefined;
}
