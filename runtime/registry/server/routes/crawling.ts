/** Fetching publishers' files anew. */

import type { Crawler, CrawlRefusal, CrawlRequestRecord } from "../../crawl/index.js";
import { type ApiHandlers, type RegistryServerDependencies, within } from "../api-request.js";
import { requireCaller } from "../auth/caller.js";
import { notFound, Problem, unavailable } from "../problems.js";
import { domainOf } from "./inputs.js";

function refuse({ refused, retryAfterSeconds }: CrawlRefusal): Problem {
  const detail = { code: refused, retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)) };
  switch (refused) {
    case "limited":
      return new Problem(429, "Too many requests for a crawl", detail);
    case "debounced":
      return new Problem(429, "The domain was crawled just now", detail);
    case "queue_full":
      return new Problem(503, "Too many crawls wait already", detail);
    case "opted_out":
      return new Problem(403, "The domain's owner wants nothing fetched", { code: refused });
    case "unsafe":
      return new Problem(400, "The domain cannot be crawled", { code: refused });
  }
}

const isRefusal = (answer: CrawlRequestRecord | CrawlRefusal): answer is CrawlRefusal => "refused" in answer;

/** @throws Problem 503 where this server does not crawl */
export function crawlerOf({ crawler }: Pick<RegistryServerDependencies, "crawler">): Crawler {
  if (crawler === undefined) throw unavailable("This server does not crawl", "crawler_off");
  return crawler;
}

/** Asks for a crawl. @throws Problem where there can be none now */
export async function asked(crawler: Crawler, domain: string, requestedBy: string): Promise<CrawlRequestRecord> {
  const answer = await within(crawler.request(domain, { requestedBy, reason: "request" }));
  if (isRefusal(answer)) throw refuse(answer);
  return answer;
}

export const crawlRoutes = (
  dependencies: RegistryServerDependencies,
  resourceMetadata: string,
): ApiHandlers<"requestCrawl" | "readCrawlRequest"> => {
  return {
    async requestCrawl({ body, request }) {
      const caller = requireCaller(request.identity, resourceMetadata);
      const answer = await asked(crawlerOf(dependencies), domainOf(body.domain), caller.id);
      return {
        status: 202,
        body: { message: "Crawl request accepted" as const, ...answer },
        headers: { location: `/api/registry/crawl-request/${answer.crawl_request_id}` },
      };
    },
    async readCrawlRequest({ params }) {
      const found = await within(crawlerOf(dependencies).read(params.crawl_request_id));
      if (found === undefined) throw notFound("No such crawl");
      return { body: found };
    },
  };
};
