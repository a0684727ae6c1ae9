/** Who may ask, put together from a registry's options. */
import type { FastifyInstance } from "fastify";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { type RegistryAccess, registryAccess } from "../../../store/index.js";
import { checkedBaseUrl, DEFAULT_BASE_URL, type RegistryOptions } from "../settings.js";
import type { Telemetry } from "../telemetry.js";
import { type ApiIdentity, type IdentifyOptions, identify } from "./caller.js";
import type { Issuer } from "./issuer.js";
import { createTokenVerifier } from "./tokens.js";

export interface OpenedIdentity {
  readonly access: RegistryAccess;
  readonly baseUrl: string;
  readonly issuer: Issuer | undefined;
  readonly identity: IdentifyOptions;
  readonly authorizationServers: readonly string[];
}

/** @throws AdbindError `registry_option_invalid` for a base URL or an issuer that cannot be used */
export async function openIdentity(options: RegistryOptions, log: Logger): Promise<OpenedIdentity> {
  const { now = Date.now, issuers = [], embeddedIssuer = true } = options;
  const access = registryAccess(options.store.database);
  const baseUrl = checkedBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL);
  const onError = (error: Error): void => log.error({ err: error }, "the issuer failed");
  // Loaded where it is on: it is a fifth of all that a registry loads.
  const issuer = embeddedIssuer
    ? await (await import("./issuer.js")).openIssuer({ access, baseUrl, now, onError })
    : undefined;
  const verifyToken = createTokenVerifier({
    issuers: [...(issuer === undefined ? [] : [{ issuer: baseUrl, algorithms: ["ES256"] }]), ...issuers],
    ...(issuer !== undefined && { localKeys: new Map([[baseUrl, issuer.keys]]) }),
    audience: `${baseUrl}/api`,
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    now,
  });
  return {
    access,
    baseUrl,
    issuer,
    identity: { access, verifyToken, localIssuer: issuer === undefined ? undefined : baseUrl, now },
    authorizationServers: [...(issuer === undefined ? [] : [baseUrl]), ...issuers.map((one) => one.issuer)],
  };
}

/** How long a caller of what is open to everybody is known by, in milliseconds. */
const OPEN_MS = 60_000;
/** Callers remembered, and the longest credential that is, in characters: keys, and tokens that say little. */
const MAX_CALLERS = 10_000;
const MAX_REMEMBERED = 512;

/**
 * Who asks for what is open to everybody: it only says by whose allowance, and asking the database would cost as much as the answer.
 * A key that is revoked keeps its allowance of open reads for a minute, and is refused at once by all else.
 */
function rememberedIdentity(options: IdentifyOptions): (authorization: string) => Promise<ApiIdentity> {
  const known = new LRUCache<string, { readonly identity: ApiIdentity; readonly until: number }>({ max: MAX_CALLERS });
  return async (authorization) => {
    const at = options.now();
    const found = known.get(authorization);
    if (found !== undefined && at < found.until) return found.identity;
    const identity = await identify(authorization, options);
    if (identity.state === "known" && authorization.length <= MAX_REMEMBERED)
      known.set(authorization, { identity, until: at + OPEN_MS });
    return identity;
  };
}

/** Reads who asks before anything else of a request is looked at. */
export function addIdentity(app: FastifyInstance, identity: IdentifyOptions, telemetry: Telemetry): void {
  const remembered = rememberedIdentity(identity);
  app.addHook("onRequest", async (request) => {
    request.identity = { state: "anonymous" };
    const { authorization } = request.headers;
    if (authorization === undefined) return;
    const open = request.routeOptions.config.open === true;
    request.identity = await (open ? remembered(authorization) : identify(authorization, identity));
    telemetry.authentication(request.identity.state);
  });
}
