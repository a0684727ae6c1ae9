/** A publisher's file looked at now, and taken: for those who changed it, and wait for what becomes of it. */
import { setTimeout as pause } from "node:timers/promises";
import type { CrawlRequestRecord } from "../../crawl/index.js";
import type { FileProblem } from "../../file-problems.js";
import { type ApiHandlers, type ApiRequest, type RegistryServerDependencies, within } from "../api-request.js";
import { requireCaller } from "../auth/caller.js";
import { notFound, Problem, unavailable } from "../problems.js";
import { asked, crawlerOf } from "./crawling.js";
import { domainOf } from "./inputs.js";

/** How long is waited for a crawl, in milliseconds: two files and their redirects. */
const WAIT_MS = 25_000;
/** How often is looked whether it ended, in milliseconds. */
const LOOK_MS = 100;

const isOver = ({ status }: CrawlRequestRecord): boolean => ["completed", "failed", "retrying"].includes(status);

/** The crawl once its first attempt is over. */
async function ended(
  { crawler, now }: RegistryServerDependencies,
  first: CrawlRequestRecord,
): Promise<CrawlRequestRecord> {
  const began = now();
  for (let record: CrawlRequestRecord | undefined = first; ; ) {
    if (record !== undefined && isOver(record)) return record;
    if (record === undefined || now() - began > WAIT_MS)
      throw unavailable("The crawl takes longer than this can wait", "crawl_pending");
    await pause(LOOK_MS);
    record = await crawler!.read(first.crawl_request_id);
  }
}

/** How long one thing is not asked for again, by whomever, in milliseconds (docs/protocol/files.md#what-a-crawl-does, 8). */
const AGAIN_MS = 5 * 60_000;

/** @throws Problem 429 */
async function notJustNow({ count, now }: RegistryServerDependencies, what: string): Promise<void> {
  const { count: asked, resets } = await within(count(what, now(), AGAIN_MS));
  if (asked > 1)
    throw new Problem(429, "That was asked for just now", {
      code: "debounced",
      retryAfterSeconds: Math.max(1, Math.ceil((resets - now()) / 1000)),
    });
}

const issueOf = ({ pointer, message, remedy }: FileProblem) => ({ field: pointer, message, suggestion: remedy });

/** What is known of the domain after its crawl. */
async function verdictOf({ data, now }: RegistryServerDependencies, domain: string, record: CrawlRequestRecord) {
  const state = await data.crawlState(domain);
  const page = await data.publisherPage(domain, { limit: 1, agentsLimit: 1 });
  if (!page.ok) throw unavailable("The registry cannot answer now", "store_unavailable");
  const { hosting, discovery_method, manager_domain, ...found } = page.value;
  const valid = record.error === null && state?.valid === true;
  const problems = (state?.problems ?? []).map(issueOf);
  const errors = valid
    ? []
    : [{ field: "", message: record.error ?? "no valid file was found", severity: "error" as const }];
  return {
    domain,
    adagents_valid: valid,
    checked_at: record.completed_at ?? record.started_at ?? new Date(now()).toISOString(),
    ...(valid && {
      discovery_method,
      authorized_agents_count: found.agents_total ?? found.authorized_agents.length,
      properties_count: found.properties_total ?? found.properties.length,
    }),
    ...(manager_domain != null && { manager_domain }),
    ...(hosting.last_http_status !== null && { status_code: hosting.last_http_status }),
    ...(hosting.last_bytes !== null && { response_bytes: hosting.last_bytes }),
    ...(hosting.resolved_url !== null && { resolved_url: hosting.resolved_url }),
    ...(record.error !== null && { error: record.error }),
    issues: { errors, warnings: problems },
  };
}

export const revalidatingRoutes = (
  dependencies: RegistryServerDependencies,
  resourceMetadata: string,
): ApiHandlers<"revalidateAdagents" | "requestBrandCrawl" | "requestManagerRevalidation" | "verifyHostedOrigin"> => ({
  async revalidateAdagents({ params, request }: ApiRequest<"revalidateAdagents">) {
    const caller = requireCaller(request.identity, resourceMetadata);
    const domain = domainOf(params.domain);
    const first = await asked(crawlerOf(dependencies), domain, caller.id);
    const record = await within(ended(dependencies, first), WAIT_MS + 5_000);
    const { organization } = caller;
    // The owner says that it looks, and the origin says that there is nothing: what the last file said need not wait.
    if (organization !== undefined && (await dependencies.data.endAbsent(domain, organization.id)))
      dependencies.log.info({ domain }, "what a file said has ended, by its owner's word");
    return { body: await within(verdictOf(dependencies, domain, record)), headers: { "cache-control": "no-store" } };
  },
  async requestBrandCrawl({ body, request }) {
    const caller = requireCaller(request.identity, resourceMetadata);
    const domain = domainOf(body.domain);
    await asked(crawlerOf(dependencies), domain, caller.id);
    return { status: 202, body: { message: "Brand crawl request accepted" as const, domain } };
  },
  async requestManagerRevalidation({ body, request }) {
    requireCaller(request.identity, resourceMetadata);
    const manager_domain = domainOf(body.manager_domain);
    const crawler = crawlerOf(dependencies);
    await notJustNow(dependencies, `manager ${manager_domain}`);
    const publishers_enqueued = await within(crawler.revalidateManaged(manager_domain));
    return {
      status: 202,
      body: { message: "Manager re-validation enqueued" as const, manager_domain, publishers_enqueued },
    };
  },
  async verifyHostedOrigin({ params, request }) {
    requireCaller(request.identity, resourceMetadata);
    const domain = domainOf(params.domain);
    if ((await within(dependencies.data.hostedFile(domain))) === undefined)
      throw notFound("No file is hosted for this domain");
    const crawler = crawlerOf(dependencies);
    await notJustNow(dependencies, `origin ${domain}`);
    const { verdict, reason, detail } = await within(crawler.verifyOrigin(domain), WAIT_MS);
    const checked_at = new Date(dependencies.now()).toISOString();
    return { body: { verified: verdict === "verified", reason, checked_at, ...(detail !== undefined && { detail }) } };
  },
});
