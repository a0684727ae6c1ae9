/** What publishers declare. */
import type { LookupPage, PublisherLookup } from "../../types.js";
import {
  type ApiHandlers,
  type ApiResponse,
  LOOKUP_CACHE,
  type RegistryServerDependencies,
  within,
} from "../api-request.js";
import { hasApiAccess } from "../auth/accounts.js";
import { optionalCaller } from "../auth/caller.js";
import { notFound } from "../problems.js";
import { agentOf, domainOf, pageOf } from "./inputs.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Says `checking` where nothing is known yet and a crawl is on its way. */
function marked(found: PublisherLookup, triggered: boolean): PublisherLookup {
  const { files } = found;
  const adagents = files?.adagents_json;
  const brand = files?.brand_json;
  const answer: Mutable<PublisherLookup> = { ...found };
  if (adagents !== undefined && brand !== undefined) {
    answer.files = {
      adagents_json: adagents.status === "unknown" ? { ...adagents, status: "checking" } : adagents,
      brand_json: brand.status === "unknown" ? { ...brand, status: "checking" } : brand,
    };
  }
  if (triggered) answer.auto_crawl_triggered = true;
  return answer;
}

/**
 * A publisher lookup, which starts a crawl where nothing is known of the domain. A crawler that does not work is no
 * reason to withhold what is known.
 */
export async function publisherLookup(
  dependencies: RegistryServerDependencies,
  domain: string,
  page: LookupPage = {},
): Promise<PublisherLookup> {
  return crawledWhereUnknown(dependencies, domain, pageOf(await within(dependencies.data.publisherPage(domain, page))));
}

/** What was found; where that is nothing, with a crawl begun. */
export async function crawledWhereUnknown(
  { crawler, telemetry, log }: RegistryServerDependencies,
  domain: string,
  found: PublisherLookup,
): Promise<PublisherLookup> {
  if (crawler === undefined || found.adagents_valid !== null) return found;
  try {
    const triggered = await within(crawler.autoCrawl(domain));
    if (triggered) telemetry.crawlStarted();
    return triggered || (await within(crawler.pending(domain))) ? marked(found, triggered) : found;
  } catch (error) {
    log.warn({ err: error, domain }, "a crawl could not be started");
    return found;
  }
}

const CACHED = { "cache-control": LOOKUP_CACHE };

type Ids = "lookupPublisher" | "lookupAuthorization" | "lookupOperator" | "lookupDomain" | "lookupProperty";

export const publisherRoutes = (dependencies: RegistryServerDependencies): ApiHandlers<Ids> => {
  const { data, access } = dependencies;
  /** An organization's tier counts while its subscription is live; a member without one has its own word. */
  const tierLive = async ({ organization }: { organization: string | null }): Promise<boolean> => {
    if (organization === null) return true;
    const row = await access.organizations.get(organization);
    return row !== undefined && row.suspended === 0 && ["active", "past_due", "trialing"].includes(row.subscription);
  };
  return {
    async lookupPublisher({ query }): Promise<ApiResponse<PublisherLookup>> {
      const { domain, agents_cursor: agentsCursor, agents_limit: agentsLimit, ...page } = query;
      const body = await publisherLookup(dependencies, domainOf(domain), { ...page, agentsCursor, agentsLimit });
      // What is on its way is worth asking for again at once.
      const judged = body.adagents_valid !== null;
      return { body, headers: { "cache-control": judged ? LOOKUP_CACHE : "no-cache" } };
    },
    async lookupAuthorization({ query }) {
      const domain = domainOf(query.domain);
      const agentUrl = agentOf(query.agent);
      const found = await within(data.lookupAuthorization(domain, agentUrl));
      if (found === undefined) throw notFound("No authorization found", { more: { domain, agent_url: agentUrl } });
      return { body: found, headers: CACHED };
    },
    async lookupOperator({ query, request }) {
      const domain = domainOf(query.domain);
      const organization = optionalCaller(request.identity)?.organization;
      const viewer = {
        seesMembersOnly: organization !== undefined && hasApiAccess(organization),
        owns: (member: { organization: string | null }) =>
          organization !== undefined && member.organization === organization.id,
        tierLive,
      };
      return { body: await within(data.lookupOperator(domain, viewer, query.scope ?? "all")) };
    },
    async lookupDomain({ params }) {
      return { body: await within(data.lookupDomain(domainOf(params.domain))), headers: CACHED };
    },
    async lookupProperty({ query }) {
      return { body: await within(data.lookupProperty(query.type, query.value)), headers: CACHED };
    },
  };
};
