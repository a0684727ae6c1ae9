/** What a seller publishes of itself for those who look for it, or verify what it signs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { JsonObject, TransportName } from "../contract/index.js";
import { hasIdentity } from "./capabilities.js";
import { type Endpoint, transportPath } from "./endpoint.js";
import { RESOURCE_METADATA } from "./gate.js";
import { brandFile, publicKeySet } from "./identity.js";
import type { SellerSettings } from "./settings.js";

interface PublishDependencies<Tx> {
  readonly settings: SellerSettings<Tx>;
  readonly endpoints: readonly Endpoint[];
}

export function publish<Tx>(app: FastifyInstance, { settings, endpoints: served }: PublishDependencies<Tx>): void {
  const keys = publicKeySet(settings);
  const endpoints = served.flatMap((at) =>
    settings.transports.map((transport) => ({
      id: at.id === "current" ? transport : `${at.id}_${transport}`,
      transport,
      path: transportPath(at, transport),
    })),
  );
  const brand = brandFile(
    settings,
    endpoints.map(({ id, path }) => ({ id, url: `${settings.baseUrl}${path}` })),
  );
  if (settings.signing !== undefined && !hasIdentity(settings.baseUrl))
    settings.logger?.warn({ baseUrl: settings.baseUrl }, "over plain http a seller has no identity to publish");
  // Short enough that a rotated or withdrawn key is seen within the time revocation lists are polled in.
  const cached = (document: object) => async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header("cache-control", "public, max-age=300").send(document);
  app.get("/.well-known/brand.json", cached(brand));
  app.get("/.well-known/jwks.json", cached(keys));
  app.get(`/.well-known/${settings.releases[0]!.word}-agents.json`, cached(agentsFile(settings, endpoints)));
  const { authorizationServers, scopes } = settings.auth ?? {};
  if (authorizationServers === undefined) return;
  const prefix = new URL(settings.baseUrl).pathname.replace(/\/$/, "");
  for (const { path } of endpoints) {
    const document = cached({
      resource: `${settings.baseUrl}${path}`,
      authorization_servers: authorizationServers,
      bearer_methods_supported: ["header"],
      ...(scopes !== undefined && { scopes_supported: scopes }),
    });
    // Who was not told where looks by the whole path, at the root of the host.
    for (const at of new Set([path, `${prefix}${path}`])) app.get(`${RESOURCE_METADATA}${at}`, document);
  }
}

/** Which agents are at this origin, and over which transport each is called: one look instead of many guesses. */
function agentsFile<Tx>(
  { baseUrl, name, description, specialisms, auth, now }: SellerSettings<Tx>,
  endpoints: readonly { readonly id: string; readonly transport: TransportName; readonly path: string }[],
): JsonObject {
  return {
    version: "1.0",
    agents: endpoints.map(({ id, transport, path }) => ({
      ...{ agent_id: id, url: `${baseUrl}${path}`, transport, description },
      specialisms: specialisms.map((one) => one.replaceAll("_", "-")),
      ...(auth?.authorizationServers !== undefined && { auth_hint: "oauth" }),
    })),
    contact: { name },
    last_updated: new Date(now()).toISOString(),
  };
}
