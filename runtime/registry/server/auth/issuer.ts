/** The embedded OAuth 2.1 issuer: authorization code with PKCE for local accounts, by oidc-provider, state in the store. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from "jose";
import { type Configuration, Provider, errors as providerErrors } from "oidc-provider";
import { isPassingFault } from "../../../db/open.js";
import { safely } from "../../../listener.js";
import type { RegistryAccess } from "../../../store/index.js";
import { html } from "../pages/html.js";
import { page, pageHeaders } from "../pages/layout.js";
import { RETRY_AFTER_SECONDS } from "../problems.js";
import { issuerAdapter } from "./issuer-adapter.js";
import { openKeyring, SIGNED_TOKEN_SECONDS } from "./issuer-keys.js";
import { GRANT_CLAIM, issuerPaths, scopes } from "./issuer-places.js";

const CODE_SECONDS = 60;
const INTERACTION_SECONDS = 600;
const SESSION_SECONDS = 8 * 3_600;
const REFRESH_TOKEN_SECONDS = 14 * 86_400;

export interface Issuer {
  /** Knows clients, grants and log-ins; what it is asked for under `handle` is answered with the keys of that time. */
  readonly provider: Provider;
  /** Keys that verify its tokens. */
  readonly keys: JWTVerifyGetKey;
  /** RFC 8414, of what the provider does. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Answers a request under `/oauth/` from its raw parts. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether the provider refused because the log-in took too long, or was finished. */
  hasEnded(error: unknown): boolean;
}

export interface IssuerOptions {
  readonly access: RegistryAccess;
  /** Public base URL, no slash at its end. */
  readonly baseUrl: string;
  /** Clock in unix milliseconds. */
  readonly now: () => number;
  /** Told of errors of the provider itself. */
  readonly onError?: (error: Error) => void;
}

const makeCookieKey = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");

const publicSet = (keys: readonly JWK[]): JSONWebKeySet => ({ keys: keys.map(({ d: _, ...jwk }) => jwk) });

/** The cookies, tokens and links of the provider are those of the public URL, whatever proxy is in between. */
function fixOrigin(request: IncomingMessage, base: URL): void {
  request.headers.host = base.host;
  request.headers["x-forwarded-proto"] = base.protocol.slice(0, -1);
  delete request.headers["x-forwarded-host"];
}

const grantRules: Partial<Configuration> = {
  // A token says by which grant it was given: when that is gone, because a code came twice or its refresh token was
  // revoked, the token is nobody's.
  extraTokenClaims: async (_, token) => ({ [GRANT_CLAIM]: "grantId" in token ? token.grantId : undefined }),
  expiresWithSession: async () => false,
  rotateRefreshToken: true,
};

/** What a client that says little means: a program on the user's machine, with a loopback address or its own scheme. */
const clientDefaults: Configuration["clientDefaults"] = {
  application_type: "native",
  grant_types: ["authorization_code", "refresh_token"],
  id_token_signed_response_alg: "ES256",
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

/** How long what is issued holds, in seconds. */
const lifetimes: Configuration["ttl"] = {
  AccessToken: SIGNED_TOKEN_SECONDS,
  AuthorizationCode: CODE_SECONDS,
  IdToken: SIGNED_TOKEN_SECONDS,
  Interaction: INTERACTION_SECONDS,
  Session: SESSION_SECONDS,
  Grant: REFRESH_TOKEN_SECONDS,
  RefreshToken: REFRESH_TOKEN_SECONDS,
};

const indicatorsOf = (resource: string): NonNullable<Configuration["features"]>["resourceIndicators"] => ({
  enabled: true,
  defaultResource: () => resource,
  useGrantedResource: () => true,
  getResourceServerInfo: (_, indicator) => {
    if (indicator !== resource) throw new providerErrors.InvalidTarget();
    return {
      scope: scopes.join(" "),
      audience: resource,
      accessTokenTTL: SIGNED_TOKEN_SECONDS,
      accessTokenFormat: "jwt",
      jwt: { sign: { alg: "ES256" } },
    };
  },
});

const renderError: Configuration["renderError"] = (ctx, out) => {
  ctx.type = "html";
  ctx.set(pageHeaders());
  ctx.body = page({
    title: "That did not work",
    body: html`<p>The application that sent you here asked for something this server does not do.</p>
<p><code>${out.error}</code> ${out.error_description}</p>`,
  }).text;
};

function configurationOf(options: IssuerOptions, keys: readonly JWK[], cookieKey: string): Configuration {
  const { access, baseUrl, now } = options;
  const resource = `${baseUrl}/api`;
  return {
    adapter: issuerAdapter(access, now),
    // The first that can sign does.
    jwks: { keys: [...keys] as NonNullable<Configuration["jwks"]>["keys"] },
    cookies: {
      keys: [cookieKey],
      names: { session: "registry_session", interaction: "registry_interaction", resume: "registry_resume" },
    },
    routes: issuerPaths,
    scopes: [...scopes],
    claims: { openid: ["sub"], profile: ["name"], email: ["email"] },
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    subjectTypes: ["public"],
    clientAuthMethods: ["none", "client_secret_post"],
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    clientDefaults,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      registration: { enabled: true, initialAccessToken: false },
      revocation: { enabled: true },
      resourceIndicators: indicatorsOf(resource),
    },
    ...grantRules,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    ttl: lifetimes,
    findAccount: async (_, id) => {
      const user = await access.users.get(id);
      if (user === undefined || user.suspended !== 0) return undefined;
      return { accountId: id, claims: () => ({ sub: id, name: user.name, email: user.email }) };
    },
    interactions: { url: (_, { uid }) => `${issuerPaths.interaction}/${uid}` },
    renderError,
    // Registered clients could name URLs for it to fetch; nothing it does here needs one.
    fetch: () => Promise.reject(new Error("the issuer fetches nothing")),
  };
}

/** The provider, and the keys it was made with. */
interface Opened {
  readonly kids: string;
  readonly provider: Provider;
  readonly answer: ReturnType<Provider["callback"]>;
  readonly verify: JWTVerifyGetKey;
}

/** A store that cannot be read or written now is no fault of the provider's: callers are asked to come again. */
function tellPassing(provider: Provider): void {
  const passing = new WeakSet<object>();
  provider.on("server_error", (ctx, error) => void (isPassingFault(error) && passing.add(ctx)));
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.status !== 500 || !passing.has(ctx)) return;
    ctx.status = 503;
    ctx.set("retry-after", String(RETRY_AFTER_SECONDS));
  });
}

function openProvider(options: IssuerOptions, keys: readonly JWK[], cookieKey: string): Opened {
  const provider = new Provider(options.baseUrl, configurationOf(options, keys, cookieKey));
  const { onError } = options;
  provider.proxy = true;
  tellPassing(provider);
  if (onError !== undefined) provider.on("server_error", (_, error) => safely(() => onError(error)));
  return {
    kids: kidsOf(keys),
    provider,
    answer: provider.callback(),
    verify: createLocalJWKSet(publicSet(keys)),
  };
}

const kidsOf = (keys: readonly JWK[]): string => keys.map(({ kid }) => kid).join(" ");

/** Opens the issuer; its keys are made on the first start, and then the same for every instance on the store. */
export async function openIssuer(options: IssuerOptions): Promise<Issuer> {
  const { access, baseUrl, now, onError } = options;
  const keyring = await openKeyring(access, now);
  const cookieKey = await access.secret("issuer-cookies", makeCookieKey, now());
  let opened = openProvider(options, await keyring.current(), cookieKey);
  const { provider } = opened;
  /** Its keys cannot be exchanged: with others another one is made, on the same state. */
  const current = async (): Promise<Opened> => {
    const keys = await keyring.current();
    if (kidsOf(keys) !== opened.kids) opened = openProvider(options, keys, cookieKey);
    return opened;
  };
  const base = new URL(baseUrl);
  return {
    provider,
    keys: async (header, token) => {
      try {
        return await (await current()).verify(header, token);
      } catch (error) {
        // Another instance may have signed it with a key that is new.
        if (!(error instanceof errors.JWKSNoMatchingKey) || !(await keyring.lookAgain())) throw error;
        return (await current()).verify(header, token);
      }
    },
    metadata: metadataOf(baseUrl),
    hasEnded: (error) => error instanceof providerErrors.SessionNotFound,
    handle(request, response) {
      fixOrigin(request, base);
      current()
        .then(({ answer }) => answer(request, response))
        .catch((error: Error) => {
          safely(() => onError?.(error));
          if (response.headersSent) response.destroy();
          else response.writeHead(503, { "retry-after": String(RETRY_AFTER_SECONDS) }).end();
        });
    },
  };
}

const metadataOf = (baseUrl: string): Issuer["metadata"] => ({
  issuer: baseUrl,
  authorization_endpoint: baseUrl + issuerPaths.authorization,
  token_endpoint: baseUrl + issuerPaths.token,
  registration_endpoint: baseUrl + issuerPaths.registration,
  revocation_endpoint: baseUrl + issuerPaths.revocation,
  jwks_uri: baseUrl + issuerPaths.jwks,
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
  authorization_response_iss_parameter_supported: true,
  scopes_supported: [...scopes],
});
