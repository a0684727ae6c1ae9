/**
 * Tokens for one agent: got by the client itself or for a person, kept, renewed before they end, got anew when refused. Own code,
 * and not oauth4webapi, which leaves keeping, renewing and who may be asked to its user: what it would do here is four requests,
 * which have to go by the guarded fetch and its bounds, whose answers are no `Response`.
 */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { Fetcher } from "../../net/index.js";
import { retryAfterInSeconds } from "../../net/retry-after.js";
import { shortText, WireFault } from "../../transport/fault.js";
import { discoverIssuer, type TokenIssuer } from "./discovery.js";
import type { OAuthOptions, OAuthTokens, TokenStore } from "./types.js";

/** A token this close to its end is renewed first, in milliseconds: it has to arrive while it is good. */
const SLACK_MS = 30_000;
const MAX_BYTES = 65_536;
/** How often tokens that another process may just be keeping are looked for, and how long after each other, in milliseconds. */
const [LOOKS, BETWEEN_LOOKS_MS] = [4, 250];
/** Answers that say nothing of a grant: asked again later, it may be good. */
const notNow: ReadonlySet<number> = new Set([408, 425, 429]);

export interface OAuthClient {
  /** @throws WireFault where none can be had, with the reason */
  token(): Promise<string>;
  /** The agent refused a token: another is got, or the refusal stands. @returns whether there is another */
  refused(token: string, challenge: string | undefined): Promise<boolean>;
}

export interface OAuthParts {
  readonly options: OAuthOptions;
  readonly agentUrl: string;
  readonly fetch: Fetcher;
  readonly allowLocal: boolean;
  readonly now: () => number;
}

function memoryTokens(): TokenStore {
  const kept = new Map<string, OAuthTokens>();
  return {
    get: (agentUrl) => kept.get(agentUrl),
    set(agentUrl, tokens) {
      if (tokens === undefined) kept.delete(agentUrl);
      else kept.set(agentUrl, tokens);
    },
  };
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

const refusal = (why: string): WireFault => new WireFault(`No token for the agent: ${why}`, { status: 401 });

export function createOAuthClient(dependencies: OAuthParts): OAuthClient {
  const { options, agentUrl, now } = dependencies;
  const store = options.tokens ?? memoryTokens();
  let issuer: TokenIssuer | undefined;
  let challenge: string | undefined;
  let getting: Promise<OAuthTokens> | undefined;

  async function theIssuer(): Promise<TokenIssuer> {
    if (issuer !== undefined) return issuer;
    const found = await discoverIssuer(dependencies, { agentUrl, challenge, trusted: options.issuer });
    if (!found.ok) throw refusal(found.why);
    issuer = found.issuer;
    return issuer;
  }

  async function get(kept: OAuthTokens | undefined): Promise<OAuthTokens> {
    const from = await theIssuer();
    // An agent that names another issuer by now would have it shown what is good at the first.
    const refresh = kept?.issuer === from.issuer ? kept.refreshToken : undefined;
    const renewed = refresh === undefined ? undefined : await renew(dependencies, from, refresh);
    const elsewhere =
      renewed === undefined && refresh !== undefined ? await gotElsewhere(dependencies, kept!, isGood) : undefined;
    if (elsewhere !== undefined) return elsewhere;
    const tokens = renewed ?? (await granted(dependencies, from));
    await store.set(agentUrl, tokens);
    return tokens;
  }

  const isGood = ({ expiresAt }: OAuthTokens): boolean => expiresAt === undefined || expiresAt - SLACK_MS > now();

  /** Calls at the same time get one token between them: a refresh token is often good once. */
  const obtain = (kept: OAuthTokens | undefined): Promise<OAuthTokens> => {
    getting ??= get(kept).finally(() => {
      getting = undefined;
    });
    return getting;
  };

  return {
    async token() {
      const kept = await store.get(agentUrl);
      return (kept !== undefined && isGood(kept) ? kept : await obtain(kept)).accessToken;
    },
    async refused(token, said) {
      challenge = said ?? challenge;
      const kept = await store.get(agentUrl);
      // Another call has got a new one meanwhile.
      if (kept !== undefined && kept.accessToken !== token) return true;
      const tokens = await obtain(kept);
      return tokens.accessToken !== token;
    },
  };
}

/**
 * A refresh token is often good once, and another process may have used it: then what it got is kept by now, or in a moment.
 * Nobody is to be sent to the issuer for that.
 */
async function gotElsewhere(
  { options: { tokens: store }, agentUrl }: OAuthParts,
  { accessToken }: OAuthTokens,
  isGood: (tokens: OAuthTokens) => boolean,
): Promise<OAuthTokens | undefined> {
  if (store === undefined) return undefined;
  for (let look = 1; ; look++) {
    const kept = await store.get(agentUrl);
    if (kept !== undefined && kept.accessToken !== accessToken && isGood(kept)) return kept;
    if (look === LOOKS) return undefined;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MS));
  }
}

/** One request to the token endpoint. @returns undefined where the grant is refused; @throws WireFault for anything else */
async function ask(
  dependencies: OAuthParts,
  issuer: TokenIssuer,
  grant: Record<string, string>,
): Promise<OAuthTokens | string> {
  const { options, agentUrl, fetch, now } = dependencies;
  const { clientId, clientSecret } = options;
  const basic =
    clientSecret !== undefined && (issuer.clientAuth.length === 0 || issuer.clientAuth.includes("client_secret_basic"));
  const form = new URLSearchParams({ ...grant, resource: agentUrl });
  if (!basic) form.set("client_id", clientId);
  if (!basic && clientSecret !== undefined) form.set("client_secret", clientSecret);
  const encoded = [clientId, clientSecret ?? ""].map(encodeURIComponent).join(":");
  const answer = await fetch(issuer.tokenEndpoint, {
    method: "POST",
    headers: {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      ...(basic && { authorization: `Basic ${btoa(encoded)}` }),
    },
    body: form.toString(),
    maxBytes: MAX_BYTES,
  });
  if (!answer.ok)
    throw new WireFault(`No answer from ${issuer.issuer}: ${answer.code}`, {
      ...{ retryable: answer.retryable, unsent: true },
    });
  const text = new TextDecoder().decode(answer.body);
  const body = parsed(text);
  if (answer.status >= 500 || notNow.has(answer.status)) {
    const retryAfter = retryAfterInSeconds(answer.headers["retry-after"], now());
    throw new WireFault(`${issuer.issuer} answered ${answer.status}`, { retryable: true, retryAfter, unsent: true });
  }
  if (answer.status !== 200) {
    const { error, error_description: more } = body;
    return [error, more].filter((one) => typeof one === "string").join(": ") || `HTTP ${answer.status}`;
  }
  const { access_token: access, refresh_token: refresh, expires_in: seconds, token_type: type } = body;
  if (typeof access !== "string" || !/^bearer$/i.test(String(type))) return "the issuer gave no Bearer token";
  return {
    accessToken: access,
    issuer: issuer.issuer,
    ...(typeof refresh === "string" && { refreshToken: refresh }),
    ...(typeof seconds === "number" && seconds > 0 && { expiresAt: now() + seconds * 1_000 }),
  };
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

async function renew(dependencies: OAuthParts, issuer: TokenIssuer, refresh: string): Promise<OAuthTokens | undefined> {
  const got = await ask(dependencies, issuer, { grant_type: "refresh_token", refresh_token: refresh });
  // An issuer that gives no new one lets the old one stand.
  return typeof got === "string" ? undefined : { refreshToken: refresh, ...got };
}

async function granted(dependencies: OAuthParts, issuer: TokenIssuer): Promise<OAuthTokens> {
  const { options } = dependencies;
  const scope = options.scope ?? (issuer.scopes.length > 0 ? issuer.scopes.join(" ") : undefined);
  const grant =
    options.authorize === undefined
      ? { grant_type: "client_credentials", ...(scope !== undefined && { scope }) }
      : await codeGrant(dependencies, issuer, scope);
  const got = await ask(dependencies, issuer, grant);
  if (typeof got === "string") throw refusal(`${issuer.issuer} refuses ${grant.grant_type}: ${shortText(got)}`);
  return got;
}

/** Sends a person to the issuer and takes the code they come back with: theirs, from this issuer, for this request. */
async function codeGrant(
  { options, agentUrl }: OAuthParts,
  { issuer, authorizationEndpoint, challengeMethods }: TokenIssuer,
  scope: string | undefined,
): Promise<Record<string, string> & { grant_type: string }> {
  const { authorize, redirectUri, clientId } = options;
  if (authorizationEndpoint === undefined) throw refusal(`${issuer} has no authorization endpoint`);
  if (!challengeMethods.includes("S256")) throw refusal(`${issuer} does not know PKCE with S256`);
  const [verifier, state] = [random(), random()];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(authorizationEndpoint);
  const asked = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri!,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    state,
    resource: agentUrl,
    ...(scope !== undefined && { scope }),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  const back = await authorize!(url.href);
  const came = new URL(back, redirectUri).searchParams;
  if (came.get("state") !== state) throw refusal("what came back from the issuer belongs to another request");
  const from = came.get("iss");
  if (from !== null && from !== issuer)
    throw refusal(`what came back is from ${shortText(from)}, and not from ${issuer}`);
  const code = came.get("code");
  if (code === null) throw refusal(`${issuer} said ${shortText(came.get("error") ?? "nothing")}`);
  return { grant_type: "authorization_code", code, redirect_uri: redirectUri!, code_verifier: verifier };
}
