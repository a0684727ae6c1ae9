/** Files as publishers write them, and what a crawl needs to reach them. */
import * as assert from "uvu/assert";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { type ReadOptions, readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import type { CrawlContext } from "../../runtime/registry/crawl/crawl.js";
import type { FileProblem } from "../../runtime/registry/file-problems.js";
import type { AuthorizationFile } from "../../runtime/registry/types.js";

export const NOW = Date.UTC(2026, 2, 2, 10);
export const WELL_KNOWN = "/.well-known/adagents.json";
export const BRAND = "/.well-known/brand.json";

export const publicLookup = async () => [{ address: "93.184.215.14", family: 4 }];

/** Whatever `fetch` is then: the interceptor takes the global one's place. */
export const interceptedFetch = createGuardedFetch({
  lookup: publicLookup,
  fetch: (...args) => globalThis.fetch(...args),
});

export const context = (given: Partial<CrawlContext> = {}): CrawlContext => ({
  fetch: interceptedFetch,
  publicUrl: "https://registry.example",
  hostedFile: async () => undefined,
  now: () => NOW,
  revokedBy: async () => [],
  ...given,
});

export const agent = (more: object = {}): object => ({
  url: "https://agent.example/",
  authorized_for: "display",
  authorization_type: "property_ids",
  property_ids: ["home"],
  ...more,
});

/** An entry that covers all of a publisher. */
export const whole = (publisher_domain: string, url: string): object => ({
  url,
  authorized_for: "All display inventory",
  authorization_type: "publisher_properties",
  publisher_properties: [{ publisher_domain, selection_type: "all" }],
});

export const property = (more: object = {}): object => ({
  property_id: "home",
  property_type: "website",
  name: "Home",
  // One that any domain may give: a name in DNS belongs to its own.
  identifiers: [{ type: "ios_bundle", value: "com.news" }],
  ...more,
});

export const file = (more: object = {}): object => ({
  authorized_agents: [agent()],
  properties: [property()],
  ...more,
});

/** What is taken of a file of news.example. */
export function readFile(
  document: object,
  given: Partial<ReadOptions> = {},
): AuthorizationFile & { problems: readonly FileProblem[] } {
  const result = readAuthorizationFile(document as never, { domain: "news.example", via: "own", now: NOW, ...given });
  assert.ok(result.ok, result.ok ? "" : result.problems[0].message);
  return { ...result.file, problems: result.problems };
}
