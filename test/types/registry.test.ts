/** What must not compile of the registry: `tsc` checks each `@ts-expect-error`. At run time the file only loads. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { RegistryClient } from "../../runtime/registry/client.js";
import type { Crawler } from "../../runtime/registry/crawl/index.js";
import type { ApiHandlers } from "../../runtime/registry/server/api-request.js";

declare const client: RegistryClient;

/** Never called: the compiler reads it. */
export async function requests(): Promise<void> {
  const answer = await client.lookupPublisher({ domain: "news.example" });
  if (answer.ok) {
    const status: "valid" | "invalid" | "absent" | "unknown" | "checking" | undefined =
      answer.data.files?.adagents_json.status;
    // @ts-expect-error the lookup has no such field
    answer.data.owner;
    status?.length;
  }
  // @ts-expect-error the answer may be a failure
  answer.data;
  // @ts-expect-error the domain is required
  await client.lookupPublisher({});
  // @ts-expect-error lists are lists, not text
  await client.searchAgents({ channels: "ctv" });
  // @ts-expect-error no such identifier type
  await client.lookupProperty({ type: "isbn", value: "1" });
  // @ts-expect-error a body needs its selectors
  await client.expandProductIdentifiers({ agent_url: "https://seller.example" });
  // @ts-expect-error the pages are gone through for the caller
  client.agents({ cursor: "x" });
  for await (const agent of client.agents({ markets: ["DE"] })) {
    const score: number = agent.relevance_score;
    score.toFixed();
  }
}

declare const handlers: ApiHandlers;

/** Never called: the compiler reads it. */
export function operations(): ApiHandlers {
  const { readStats: _, ...rest } = handlers;
  // @ts-expect-error an operation of the document has no handler
  const missing: ApiHandlers = rest;
  // @ts-expect-error the body is another operation's
  const wrong: ApiHandlers = { ...handlers, readStats: async () => ({ body: { status: "ok" } }) };
  return missing ?? wrong;
}

/** Never called: the compiler reads it. */
export async function crawls(port: Crawler): Promise<void> {
  const answer = await port.request("news.example", { requestedBy: "key:1", reason: "request" });
  // @ts-expect-error it may be a refusal
  answer.crawl_request_id;
}

test("the module of types compiles and loads", () => assert.type(requests, "function"));

test.run();
