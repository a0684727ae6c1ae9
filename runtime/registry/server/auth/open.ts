/** Who may ask, put together from a registry's options. */
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type RegistryAccess, registryAccess } from "../../../store/index.js";
import { checkedBaseUrl, DEFAULT_BASE_URL, type RegistryOptions } from "../settings.js";
import type { Telemetry } from "../telemetry.js";
import { type IdentifyOptions, identify } from "./caller.js";
import { type Issuer, openIssuer } from "./issuer.js";
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
  const issuer = embeddedIssuer ? await openIssuer({ access, baseUrl, now, onError }) : undefined;
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

/** Reads who asks before anything else of a request is looked at. */
export function addIdentity(app: FastifyInstance, identity: IdentifyOptions, telemetry: Telemetry): void {
  app.addHook("onRequest", async (request) => {
    request.identity = { state: "anonymous" };
    const { authorization } = request.headers;
    if (authorization === undefined) return;
    request.identity = await identify(authorization, identity);
    telemetry.authentication(request.identity.state);
  });
}
