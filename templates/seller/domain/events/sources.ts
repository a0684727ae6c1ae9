/** Event sources: where a buyer's conversions come from, and how they get here. */
import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { spendingAccount } from "../accounts/accounts.js";

type Wanted = Request<"sync_event_sources">;
type Upload = NonNullable<Wanted["event_sources"]>[number];

export interface EventSource {
  readonly event_source_id: string;
  readonly account_id: string;
  readonly seller_id: string;
  readonly name?: string;
  readonly event_types?: readonly string[];
  readonly allowed_domains?: readonly string[];
}

const KIND = "event_source";

export const eventSource = (call: Call, id: string): EventSource | undefined =>
  call.documents.get<EventSource>(KIND, call.principal, id);

const eventSources = (call: Call, accountId: string): EventSource[] =>
  call.documents.list<EventSource>(KIND, call.principal).filter(({ account_id }) => account_id === accountId);

/** `sync_event_sources`: each with what its pages must carry; without any, what is there. */
export function syncEventSources(call: Call, request: Wanted): JsonObject {
  const { account_id: accountId } = spendingAccount(call, request.account);
  if (request.event_sources === undefined)
    return { event_sources: eventSources(call, accountId).map((one) => shown(call, one, "unchanged")) };
  const results = request.event_sources.map((upload) => syncOne(call, accountId, upload));
  if (request.delete_missing === true) {
    const kept = new Set(request.event_sources.map(({ event_source_id }) => event_source_id));
    for (const { event_source_id } of eventSources(call, accountId)) {
      if (kept.has(event_source_id)) continue;
      call.documents.remove(KIND, call.principal, event_source_id);
      results.push({ event_source_id, action: "deleted" });
    }
  }
  return { event_sources: results };
}

function syncOne(call: Call, accountId: string, upload: Upload): JsonObject {
  const { event_source_id, name, event_types, allowed_domains } = upload;
  const before = eventSource(call, event_source_id);
  const kept: EventSource = {
    event_source_id,
    account_id: accountId,
    seller_id: before?.seller_id ?? call.id("src"),
    ...(name !== undefined && { name }),
    ...(event_types !== undefined && { event_types }),
    ...(allowed_domains !== undefined && { allowed_domains }),
  };
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(kept);
  if (!same) call.documents.put(KIND, call.principal, event_source_id, kept);
  return shown(call, kept, before === undefined ? "created" : same ? "unchanged" : "updated");
}

/** The script's address has only our own id in it: nothing of the buyer's gets into the snippet. */
const shown = (
  call: Call,
  { account_id: _, allowed_domains: _domains, ...source }: EventSource,
  action: string,
): JsonObject => {
  const script = new URL(`/events/${source.seller_id}.js`, call.agentUrl).href;
  return {
    ...source,
    action,
    action_source: "website",
    managed_by: "buyer",
    setup: {
      snippet: `<script async src="${script}"></script>`,
      snippet_type: "javascript",
      instructions: "Put the snippet into the head of every page that events come from.",
    },
  };
};
