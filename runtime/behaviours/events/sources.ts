/** Event sources: where a buyer's conversions come from, and how they get here. */
import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import { type Dependency, toldOf } from "../buys/impairments.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

/** What the buyer says of a source. */
interface Said {
  readonly name?: string;
  readonly event_types?: readonly string[];
  /** Where it is declared, what is worth money is worth it in one of these. */
  readonly value_currencies?: readonly string[];
  readonly action_source?: string;
  readonly surface?: JsonObject;
  readonly allowed_domains?: readonly string[];
}

interface Upload extends Said {
  readonly event_source_id: string;
}

interface Wanted {
  readonly account: AccountRef;
  readonly event_sources?: readonly Upload[];
  readonly delete_missing?: boolean;
}

export interface EventSource extends Said {
  readonly event_source_id: string;
  readonly account_id: string;
  readonly seller_id: string;
}

const kept = collection<EventSource>("event_source");

export const findEventSource = (call: BehaviourCall, id: string): Promise<EventSource | undefined> =>
  kept.get(call, call.principal, id);

const sourcesOf = async (call: BehaviourCall, accountId: string): Promise<EventSource[]> =>
  (await kept.list(call, call.principal)).filter(({ account_id }) => account_id === accountId);

/** `sync_event_sources`: each with what its pages must carry; without any, what is there. */
export const syncEventSources: ToolBehaviour = async (request: Wanted, call) => {
  const { account_id: accountId } = await spendingAccount(call, request.account);
  if (request.event_sources === undefined)
    return call.answer({
      event_sources: (await sourcesOf(call, accountId)).map((one) => shown(call, one, "unchanged")),
    });
  const results: JsonObject[] = [];
  const changes: Dependency[] = [];
  for (const upload of request.event_sources) results.push(await syncOne(call, accountId, upload, changes));
  if (request.delete_missing === true) {
    const named = new Set(request.event_sources.map(({ event_source_id }) => event_source_id));
    for (const { event_source_id } of await sourcesOf(call, accountId)) {
      if (named.has(event_source_id)) continue;
      kept.remove(call, call.principal, event_source_id);
      changes.push(dependency(event_source_id, { to: "insufficient", reason_code: "source_offline" }));
      results.push({ event_source_id, action: "deleted" });
    }
  }
  await toldOf(call, changes);
  return call.answer({ event_sources: results });
};

const told = ["name", "event_types", "value_currencies", "action_source", "surface", "allowed_domains"] as const;

/** @param changes what buys are to be told of, of which it makes one more */
async function syncOne(
  call: BehaviourCall,
  accountId: string,
  upload: Upload,
  changes: Dependency[],
): Promise<JsonObject> {
  const { event_source_id } = upload;
  const before = await findEventSource(call, event_source_id);
  // Events name their source and no account: an id is one account's alone.
  if (before !== undefined && before.account_id !== accountId) return taken(event_source_id);
  const made: EventSource = {
    event_source_id,
    account_id: accountId,
    seller_id: before?.seller_id ?? call.id("src"),
    ...Object.fromEntries(told.flatMap((name) => (upload[name] === undefined ? [] : [[name, upload[name]]]))),
  };
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(made);
  if (!same) kept.put(call, call.principal, event_source_id, made);
  if (before === undefined) changes.push(dependency(event_source_id, undefined));
  return shown(call, made, before === undefined ? "created" : same ? "unchanged" : "updated");
}

/** The buys that are steered by what comes from a source hear that it is gone, or there again. */
const dependency = (id: string, offline: Dependency["offline"]): Dependency => ({ type: "event_source", id, offline });

const taken = (event_source_id: string): JsonObject => ({
  event_source_id,
  action: "failed",
  errors: [
    {
      code: "INVALID_REQUEST",
      message: "another account has an event source of this id: choose another id",
      recovery: "correctable",
    },
  ],
});

/** The script's address has only our own id in it: nothing of the buyer's gets into the snippet. */
const shown = (
  call: BehaviourCall,
  { account_id: _, allowed_domains: _domains, ...source }: EventSource,
  action: string,
): JsonObject => {
  const script = new URL(`/events/${source.seller_id}.js`, call.agentUrl).href;
  return {
    action_source: "website",
    ...source,
    action,
    managed_by: "buyer",
    setup: {
      snippet: `<script async src="${script}"></script>`,
      snippet_type: "javascript",
      instructions: "Put the snippet into the head of every page that events come from.",
    },
  };
};
