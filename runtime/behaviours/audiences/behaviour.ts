/** Audiences: who is in them is kept as digests of the identifiers sent, which is all that counting needs (see members.ts). */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import { accountCollection } from "../accounts/of-accounts.js";
import { type Dependency, toldOf } from "../buys/impairments.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { repetitionOf } from "../frame/repetition.js";
import { type Crowd, changeMembers, dropMembers } from "./members.js";

interface Upload {
  readonly audience_id: string;
  readonly name?: string;
  readonly description?: string;
  readonly audience_type?: string;
  readonly tags?: readonly string[];
  readonly consent_basis?: string;
  /** Members that are somewhere else. */
  readonly source?: object;
  readonly delete?: boolean;
  readonly add?: readonly object[];
  readonly remove?: readonly object[];
}

interface Wanted {
  readonly account: AccountRef;
  readonly audiences?: readonly Upload[];
  readonly delete_missing?: boolean;
}

export interface Audience extends Crowd {
  readonly audience_id: string;
  readonly account_id: string;
  readonly seller_id: string;
  /** What the buyer says of it: `name`, `description`, `audience_type`, `tags`, `consent_basis`. */
  readonly said: JsonObject;
  /** A state that does not follow from its size: what an operator, or a test, put it into. */
  readonly fixed?: string;
  readonly last_synced_at: string;
}

const kept = accountCollection<Audience>("audience");

/** Smaller audiences are not targeted: their members could be told apart. */
const MINIMUM_SIZE = 100;

/** An audience of an account, or of any of the caller's where none is named. */
export const findAudience = async (
  call: BehaviourCall,
  id: string,
  accountId?: string,
): Promise<Audience | undefined> =>
  accountId === undefined
    ? (await kept.list(call)).find(({ audience_id }) => audience_id === id)
    : kept.get(call, accountId, id);

export const saveAudience = (call: BehaviourCall, audience: Audience): void =>
  kept.put(call, audience.audience_id, audience);

/** What it is good for. */
export const audienceState = ({ fixed, size }: Audience): string =>
  fixed ?? (size < MINIMUM_SIZE ? "too_small" : "ready");

/** `sync_audiences`: members come and go; without any audience, what is there. */
const syncAudiences: ToolBehaviour = async (request: Wanted, call) => {
  const { account_id: accountId } = await spendingAccount(call, request.account);
  if (request.audiences === undefined) return discovered(call, await kept.list(call, accountId));
  const results: JsonObject[] = [];
  const changes: Dependency[] = [];
  for (const [index, upload] of request.audiences.entries()) {
    const key = `adbind-${repetitionOf(call, request, index)}`;
    results.push(await syncOne(call, accountId, { upload, key, changes }));
  }
  if (request.delete_missing === true) {
    const named = new Set(request.audiences.map(({ audience_id }) => audience_id));
    for (const one of await kept.list(call, accountId)) {
      if (named.has(one.audience_id)) continue;
      changes.push(await removed(call, one, `adbind-${repetitionOf(call, request, one.audience_id)}`));
      results.push({ audience_id: one.audience_id, action: "deleted" });
    }
  }
  await toldOf(call, changes);
  return call.answer({ audiences: results });
};

/** Tags are given back, though answers have no field of that name. */
function discovered(call: BehaviourToolCall, all: readonly Audience[]): BehaviourReply {
  const { status, data } = call.answer({ audiences: all.map((one) => shown(one, "unchanged", 0)) });
  const tagged = (data.audiences as readonly JsonObject[]).map((one, index) => {
    const { tags } = all[index]!.said;
    return tags === undefined ? one : { ...one, tags };
  });
  return { status, data: { ...data, audiences: tagged } };
}

async function removed(call: BehaviourCall, audience: Audience, idempotencyKey: string): Promise<Dependency> {
  const { audience_id, seller_id, account_id: accountId } = audience;
  kept.remove(call, accountId, audience_id);
  dropMembers(call, { accountId, audienceId: audience_id }, audience.depth);
  const change = { audience_id, seller_id, add: [], remove: [], deleted: true } as const;
  await call.ports.audiences.change(change, { principal: call.principal, accountId, idempotencyKey });
  const reason = "The audience was deleted.";
  return dependency(audience, { to: "suspended", reason_code: "seller_removed", reason });
}

/** The buys that are for an audience, or not for it, hear that it is gone, or there again. */
const dependency = (
  { audience_id: id, account_id: account }: Audience,
  offline: Dependency["offline"],
): Dependency => ({ type: "audience", id, account, offline });

/** Two syncs at one time, and one that is repeated, mean one audience: it has one name, whichever of them is told. */
const sellerId = ({ principal }: BehaviourCall, accountId: string, audienceId: string): string =>
  `aud_${createHash("sha256")
    .update(JSON.stringify([principal, accountId, audienceId]))
    .digest("hex")
    .slice(0, 20)}`;

const told = ["name", "description", "audience_type", "tags", "consent_basis"] as const;

const saidIn = (upload: Upload): JsonObject =>
  Object.fromEntries(told.flatMap((name) => (upload[name] === undefined ? [] : [[name, upload[name]]])));

async function syncOne(
  call: BehaviourCall,
  accountId: string,
  { upload, key, changes }: { readonly upload: Upload; readonly key: string; readonly changes: Dependency[] },
): Promise<JsonObject> {
  const { audience_id, name, add = [], remove = [] } = upload;
  const before = await kept.get(call, accountId, audience_id);
  if (upload.delete === true) {
    if (before === undefined) return failed(audience_id, `no audience ${audience_id}`);
    changes.push(await removed(call, before, key));
    return { audience_id, action: "deleted" };
  }
  if (upload.source !== undefined)
    return failed(audience_id, "members are sent here: nobody fetches them from a source", "UNSUPPORTED_FEATURE");
  const crowd = before ?? { size: 0, depth: 0 };
  const others = await changeMembers(call, { accountId, audienceId: audience_id }, crowd, { add, remove });
  const { size, depth } = others ?? crowd;
  const synced: Audience = {
    audience_id,
    account_id: accountId,
    seller_id: before?.seller_id ?? sellerId(call, accountId, audience_id),
    said: { ...before?.said, ...saidIn(upload) },
    size,
    depth,
    ...(before?.fixed !== undefined && { fixed: before.fixed }),
    last_synced_at: call.time,
  };
  const same = before !== undefined && others === undefined && canonicalize(before.said) === canonicalize(synced.said);
  if (!same) {
    saveAudience(call, synced);
    const change = { audience_id, seller_id: synced.seller_id, ...(name !== undefined && { name }), add, remove };
    await call.ports.audiences.change(change, { principal: call.principal, accountId, idempotencyKey: key });
  }
  if (before === undefined) changes.push(dependency(synced, undefined));
  return shown(synced, before === undefined ? "created" : same ? "unchanged" : "updated", add.length);
}

const failed = (audience_id: string, message: string, code = "REFERENCE_NOT_FOUND"): JsonObject => ({
  audience_id,
  action: "failed",
  errors: [{ code, message, recovery: "correctable" }],
});

const shown = (audience: Audience, action: string, uploaded: number): JsonObject => {
  const { audience_id, said, seller_id, size, last_synced_at } = audience;
  return {
    audience_id,
    ...said,
    seller_id,
    action,
    status: audienceState(audience),
    uploaded_count: uploaded,
    total_uploaded_count: size,
    minimum_size: MINIMUM_SIZE,
    ...(size >= MINIMUM_SIZE && { matched_count: size, effective_match_rate: 1 }),
    last_synced_at,
  };
};

/** Audiences that buyers bring. */
export const audiencesBehaviour: Behaviour = {
  area: "audiences",
  needs: ["accounts"],
  tools: { sync_audiences: syncAudiences },
  capabilities: () => ({
    media_buy: {
      features: { audience_targeting: true },
      audience_targeting: {
        supported_identifier_types: ["hashed_email", "hashed_phone"],
        minimum_audience_size: MINIMUM_SIZE,
      },
    },
  }),
};
