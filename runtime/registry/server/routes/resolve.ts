/** Domains as the SDKs resolve them: one, or a hundred at once. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { publisherDomain } from "../../model.js";
import type { PublisherLookup, ResolvedBrand } from "../../types.js";
import {
  type ApiHandlers,
  type ApiRequest,
  LOOKUP_CACHE,
  type RegistryServerDependencies,
  within,
} from "../api-request.js";
import { notFound } from "../problems.js";
import { domainOf } from "./inputs.js";
import { publisherLookup } from "./publishers.js";

/** Properties of each of many. */
const BULK_PROPERTIES = 200;
/**
 * Characters of properties, and of agents, of each of many: a file of ten megabytes may be two hundred properties, and a hundred such
 * files no answer. Two hundred usual ones take a third of it.
 */
const BULK_CHARACTERS = 160_000;
/** Of many domains, looked up at once. */
const AT_ONCE = 4;

const CACHED = { "cache-control": LOOKUP_CACHE };

type Ids =
  | "resolveProperty"
  | "resolveProperties"
  | "readBrandFile"
  | "resolveBrand"
  | "resolveBrands"
  | "lookupManifest"
  | "describeApi";

function resolved(found: PublisherLookup) {
  const hosted = found.hosting.mode === "aao_hosted";
  if (found.adagents_valid !== true && !hosted && found.properties.length === 0) return undefined;
  const valid = found.adagents_valid === true;
  return {
    publisher_domain: found.domain,
    source: valid ? ("adagents_json" as const) : hosted ? ("hosted" as const) : ("discovered" as const),
    // What only an agent claims is not the publisher's authorization.
    authorized_agents: found.authorized_agents
      .filter(({ source }) => source !== "agent_claim")
      .map(({ url, authorized_for }) => ({ url, ...(authorized_for !== undefined && { authorized_for }) })),
    properties: found.properties,
    properties_total: found.properties_total ?? found.properties.length,
    ...(found.agents_total !== undefined && { agents_total: found.agents_total }),
    verified: valid,
  };
}

/** The first of a list, as far as there is room. */
function withRoom<T>(items: readonly T[]): readonly T[] {
  let left = BULK_CHARACTERS;
  const end = items.findIndex((one) => {
    left -= JSON.stringify(one).length;
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** The same of one of many. */
const shortened = (found: PublisherLookup) => {
  const [properties, authorized_agents] = [withRoom(found.properties), withRoom(found.authorized_agents)];
  const { properties_total = found.properties.length, agents_total = found.authorized_agents.length } = found;
  return resolved({
    ...found,
    properties,
    properties_total,
    authorized_agents,
    ...(authorized_agents.length < found.authorized_agents.length && { agents_total }),
  });
};

const descriptions =
  ({ document, baseUrl }: RegistryServerDependencies) =>
  async () => {
    const { title, version } = document.json.info as { title: string; version: string };
    return {
      body: {
        name: title,
        version,
        documentation: `${baseUrl}/docs`,
        openapi: `${baseUrl}/openapi.json`,
        endpoints: Object.fromEntries(document.operations.map(({ id, method, path }) => [id, `${method} ${path}`])),
      },
      headers: CACHED,
    };
  };

/** Where the brand file of a domain is. */
const manifests =
  ({ data }: RegistryServerDependencies) =>
  async ({ query }: ApiRequest<"lookupManifest">) => {
    const domain = domainOf(query.domain);
    const known = (await within(data.resolveBrands([domain]))).has(domain);
    if (!known) return { body: { success: false, found: false }, headers: CACHED };
    const file = await within(data.brandFile(domain));
    const reference = {
      reference_type: "url" as const,
      manifest_url: file?.url ?? `https://${domain}/.well-known/brand.json`,
      agent_url: null,
      agent_id: null,
      verification_status: "valid" as const,
    };
    return { body: { success: true, found: true, reference }, headers: CACHED };
  };

export const resolveRoutes = (dependencies: RegistryServerDependencies): ApiHandlers<Ids> => {
  const { data } = dependencies;
  const brandOf = async (domain: string): Promise<ResolvedBrand> => {
    const found = await within(data.resolveBrand(domain));
    if (found === undefined) throw notFound("No brand is known for this domain", { more: { domain } });
    return found;
  };
  const lookUp = async (domain: string) => {
    const page = await within(data.publisherPage(domain, { limit: BULK_PROPERTIES }));
    return (page.ok && shortened(page.value)) || null;
  };
  return {
    async resolveProperty({ query }) {
      const domain = domainOf(query.domain);
      const found = resolved(await publisherLookup(dependencies, domain));
      if (found === undefined) throw notFound("Nothing is known of this domain", { more: { domain } });
      return { body: found, headers: CACHED };
    },
    async resolveProperties({ body }) {
      const domains = body.domains.map((text) => [text, publisherDomain(text)] as const);
      // However it is written: one that is large is read once.
      const next = new Set(domains.flatMap(([, domain]) => domain ?? [])).values();
      const found = new Map<string, Awaited<ReturnType<typeof lookUp>>>();
      const turn = async (): Promise<void> => {
        for (const domain of next) {
          found.set(domain, await lookUp(domain));
          // A file's database answers at once, and a hundred large publishers are seconds.
          await nextTurn();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, turn));
      const results = domains.map(([text, domain]) => [text, (domain && found.get(domain)) || null]);
      return { body: { results: Object.fromEntries(results) } };
    },
    async resolveBrand({ query }) {
      return { body: await brandOf(domainOf(query.domain)), headers: CACHED };
    },
    async readBrandFile({ query }) {
      const domain = domainOf(query.domain);
      const found = await within(data.brandFile(domain));
      if (found === undefined) throw notFound("No brand file is known of this domain", { more: { domain } });
      return { body: found, headers: CACHED };
    },
    async resolveBrands({ body }) {
      const domains = body.domains.map((text) => [text, publisherDomain(text)] as const);
      const found = await within(data.resolveBrands(domains.flatMap(([, domain]) => domain ?? [])));
      const results = domains.map(([text, domain]) => [text, (domain && found.get(domain)) || null]);
      return { body: { results: Object.fromEntries(results) } };
    },
    lookupManifest: manifests(dependencies),
    describeApi: descriptions(dependencies),
  };
};
