/** Who issues tokens for an agent: its metadata (RFC 9728), then its issuer's (RFC 8414). Nothing else is believed. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { list } from "../../extract/json-object.js";
import type { Fetcher } from "../../net/index.js";

/** Largest metadata document, in bytes. */
const MAX_BYTES = 65_536;

export interface TokenIssuer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authorizationEndpoint: string | undefined;
  /** Ways a client may show who it is; `client_secret_basic` where nothing is said (RFC 8414). */
  readonly clientAuth: readonly string[];
  readonly grants: readonly string[];
  readonly challengeMethods: readonly string[];
  /** Scopes that the agent asks for. */
  readonly scopes: readonly string[];
}

export type Discovered =
  | { readonly ok: true; readonly issuer: TokenIssuer; readonly metadata: string }
  | { readonly ok: false; readonly why: string };

interface Source {
  readonly fetch: Fetcher;
  readonly allowLocal: boolean;
}

async function documentAt({ fetch, allowLocal }: Source, url: string): Promise<JsonObject | undefined> {
  if (!allowLocal && !url.startsWith("https:")) return undefined;
  const answer = await fetch(url, { headers: { accept: "application/json" }, maxBytes: MAX_BYTES });
  if (!answer.ok || answer.status !== 200 || answer.body.byteLength > MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(answer.body));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The parameter of a challenge that names the agent's metadata. */
export const metadataIn = (challenge: string | undefined): string | undefined =>
  /\bresource_metadata="([^"]+)"/i.exec(challenge ?? "")?.[1];

/** A well-known document of a URL with a path stands between its host and its path. */
const wellKnown = (name: string, url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}/.well-known/${name}${pathname === "/" ? "" : pathname.replace(/\/$/, "")}`;
};

/** Is a resource what an agent's URL stands in? Another's token must not be asked for. */
function covers(resource: unknown, agentUrl: string): boolean {
  if (typeof resource !== "string" || !URL.canParse(resource)) return false;
  const [named, agent] = [new URL(resource), new URL(agentUrl)];
  const path = named.pathname.replace(/\/$/, "");
  return named.origin === agent.origin && (agent.pathname === path || agent.pathname.startsWith(`${path}/`));
}

async function resourceOf(
  source: Source,
  agentUrl: string,
  challenge: string | undefined,
): Promise<{ readonly document: JsonObject; readonly url: string } | undefined> {
  const named = metadataIn(challenge);
  // What a challenge names is the agent's to say, and of its own origin only.
  const own = named !== undefined && URL.canParse(named) && new URL(named).origin === new URL(agentUrl).origin;
  const root = new URL("/.well-known/oauth-protected-resource", agentUrl).href;
  const places = [...(own ? [named] : []), wellKnown("oauth-protected-resource", agentUrl), root];
  for (const url of new Set(places)) {
    const document = await documentAt(source, url);
    if (document !== undefined && covers(document.resource, agentUrl)) return { document, url };
  }
  return undefined;
}

const strings = (value: unknown): string[] => list(value).filter((one): one is string => typeof one === "string");

async function issuerAt(source: Source, issuer: string): Promise<Omit<TokenIssuer, "scopes"> | string> {
  if (!URL.canParse(issuer)) return `${issuer} is no URL`;
  const { origin, pathname } = new URL(issuer);
  const behind = `${origin}${pathname.replace(/\/$/, "")}/.well-known/openid-configuration`;
  for (const url of new Set([
    wellKnown("oauth-authorization-server", issuer),
    wellKnown("openid-configuration", issuer),
    behind,
  ])) {
    const found = await documentAt(source, url);
    if (found === undefined) continue;
    if (found.issuer !== issuer) return `${url} is the metadata of ${String(found.issuer)}, and not of ${issuer}`;
    const { token_endpoint: token, authorization_endpoint: authorization } = found;
    if (typeof token !== "string" || !URL.canParse(token)) return `${url} names no token endpoint`;
    if (!source.allowLocal && !token.startsWith("https:")) return `the token endpoint of ${issuer} is not https`;
    return {
      issuer,
      tokenEndpoint: token,
      authorizationEndpoint: typeof authorization === "string" ? authorization : undefined,
      clientAuth: strings(found.token_endpoint_auth_methods_supported),
      grants: strings(found.grant_types_supported),
      challengeMethods: strings(found.code_challenge_methods_supported),
    };
  }
  return `${issuer} publishes no metadata`;
}

/**
 * Finds out who issues tokens for an agent.
 * @param challenge its `WWW-Authenticate`, where it has sent one
 * @param trusted the one issuer that will do
 */
export async function discoverIssuer(
  source: Source,
  { agentUrl, challenge, trusted }: { agentUrl: string; challenge?: string | undefined; trusted?: string | undefined },
): Promise<Discovered> {
  const resource = await resourceOf(source, agentUrl, challenge);
  if (resource === undefined) return { ok: false, why: "the agent publishes no metadata of its own (RFC 9728)" };
  const named = strings(resource.document.authorization_servers);
  const chosen = trusted === undefined ? named[0] : named.find((one) => one === trusted);
  if (chosen === undefined) {
    const why = named.length === 0 ? "the agent's metadata names no issuer" : `the agent does not name ${trusted}`;
    return { ok: false, why: `${why}; it names ${named.join(", ") || "none"}` };
  }
  const issuer = await issuerAt(source, chosen);
  if (typeof issuer === "string") return { ok: false, why: issuer };
  const scopes = strings(resource.document.scopes_supported);
  return { ok: true, issuer: { ...issuer, scopes }, metadata: resource.url };
}
