/** For those who keep a copy: what changed, as pages and as a stream, and all that stands. */
import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import type { AuthorizationSource, FeedRequest, Page, RegistryData, SnapshotPart, SnapshotPlace } from "../../types.js";
import { type ApiHandlers, type ApiRequest, type RegistryServerDependencies, within } from "../api-request.js";
import { requireCaller } from "../auth/caller.js";
import { etagOf } from "../files.js";
import { Problem } from "../problems.js";
import { agentOf, pageOf } from "./inputs.js";

/** The document's own defaults. */
const PAGE_EVENTS = 100;
const HEARTBEAT_SECONDS = 15;
/** Rows of one agent in one answer. */
const AGENT_ROWS = 10_000;

type Ids = "readFeed" | "streamFeed" | "listAuthorizations" | "readSnapshot";

/** A cursor that has expired is told as one: who keeps a copy begins it again. */
function feedOf<T>(page: Page<T>): T {
  if (!page.ok && page.reason === "cursor_expired")
    throw new Problem(410, "cursor_expired", { code: "cursor_expired", message: "Begin again without a cursor" });
  return pageOf(page);
}

const requestOf = ({ cursor, types, limit = PAGE_EVENTS }: ApiRequest<"readFeed">["query"]): FeedRequest => ({
  limit,
  ...(cursor !== undefined && cursor !== "" && { cursor }),
  ...(types !== undefined && { types }),
});

const sourcesOf = (evidence: readonly AuthorizationSource[] | undefined): readonly AuthorizationSource[] =>
  evidence ?? ["adagents_json"];

/** All that stands, line by line; each part is read when the one before was taken. */
async function* linesOf(data: RegistryData, sources: readonly AuthorizationSource[]): AsyncGenerator<string> {
  for (let at: SnapshotPlace | undefined = { publisher: 0, agent: 0 }; at !== undefined; ) {
    const part: SnapshotPart = await within(data.authorizationsAfter(at, sources));
    let text = "";
    for (const row of part.rows) {
      text += `${JSON.stringify(row)}\n`;
      if (text.length < 65_536) continue;
      yield text;
      text = "";
    }
    if (text !== "") yield text;
    at = part.next;
  }
}

/** What a browser that reconnects sends. */
const lastEventId = ({ headers }: FastifyRequest): string | undefined => {
  const given = headers["last-event-id"];
  return typeof given === "string" && given !== "" ? given : undefined;
};

export const feedRoutes = ({ data, streams, baseUrl }: RegistryServerDependencies): ApiHandlers<Ids> => ({
  async readFeed({ query }) {
    const body = feedOf(await within(data.feed(requestOf(query))));
    // How old it is changes by itself.
    return { body, fingerprint: (bytes) => bytes.subarray(0, bytes.lastIndexOf('"freshness"')) };
  },
  async streamFeed({ query, request }) {
    const caller = requireCaller(request.identity, `${baseUrl}/.well-known/oauth-protected-resource/api`);
    const cursor = lastEventId(request) ?? query.cursor;
    const wanted = requestOf({ ...query, ...(cursor !== undefined && { cursor }) });
    // What is wrong with the cursor is said before the stream begins.
    feedOf(await within(data.feed({ ...wanted, limit: 1 })));
    const body = streams.open(caller.id, wanted, (query.poll_interval_seconds ?? HEARTBEAT_SECONDS) * 1000);
    const headers = {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      // The connection ends with its stream: a server that stops does not wait for what comes after.
      connection: "close",
    };
    return { body, headers };
  },
  async listAuthorizations({ query }) {
    const agentUrl = agentOf(query.agent_url);
    const { cursor } = await within(data.feedEnd());
    const sources = sourcesOf(query.evidence);
    const rows = await within(data.authorizationsOf(agentUrl, { sources, limit: AGENT_ROWS + 1 }));
    const shown = (rows ?? []).slice(0, AGENT_ROWS);
    const body = {
      agent_url: agentUrl,
      evidence: [...sources],
      include: query.include ?? ("effective" as const),
      rows: shown,
      count: shown.length,
      ...((rows ?? []).length > AGENT_ROWS && { truncated: true }),
    };
    return { body, headers: { "x-sync-cursor": cursor } };
  },
  async readSnapshot({ query }) {
    const { cursor } = await within(data.feedEnd());
    const sources = sourcesOf(query.evidence);
    const etag = `W/${etagOf(`${cursor} ${sources.join(",")}`)}`;
    const headers = { etag, "x-sync-cursor": cursor, "cache-control": "private, no-cache" };
    return {
      body: Readable.from(linesOf(data, sources)),
      headers: { ...headers, "content-type": "application/x-ndjson; charset=utf-8" },
    };
  },
});
