/** Audiences: who is in them is kept as digests of the identifiers sent, which is all that counting needs. */
import { createHash } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { spendingAccount } from "../accounts/accounts.js";

type Wanted = Request<"sync_audiences">;
type Upload = NonNullable<Wanted["audiences"]>[number];

interface Audience {
  readonly audience_id: string;
  readonly account_id: string;
  readonly seller_id: string;
  readonly name?: string;
  readonly description?: string;
  readonly members: readonly string[];
  readonly last_synced_at: string;
}

const KIND = "audience";

/** Smaller audiences are not targeted: their members could be told apart. */
export const MINIMUM_SIZE = 100;

const audience = (call: Call, id: string): Audience | undefined =>
  call.documents.get<Audience>(KIND, call.principal, id);

const audiences = (call: Call, accountId: string): Audience[] =>
  call.documents.list<Audience>(KIND, call.principal).filter(({ account_id }) => account_id === accountId);

/** `sync_audiences`: members come and go; without any audience, what is there. */
export function syncAudiences(call: Call, request: Wanted): JsonObject {
  const { account_id: accountId } = spendingAccount(call, request.account);
  if (request.audiences === undefined)
    return { audiences: audiences(call, accountId).map((one) => shown(one, "unchanged", 0)) };
  const results = request.audiences.map((upload) => syncOne(call, accountId, upload));
  if (request.delete_missing === true) {
    const kept = new Set(request.audiences.map(({ audience_id }) => audience_id));
    for (const { audience_id } of audiences(call, accountId)) {
      if (kept.has(audience_id)) continue;
      call.documents.remove(KIND, call.principal, audience_id);
      results.push({ audience_id, action: "deleted" });
    }
  }
  return { audiences: results };
}

function syncOne(call: Call, accountId: string, upload: Upload): JsonObject {
  const { audience_id, name, description } = upload;
  const before = audience(call, audience_id);
  if (upload.delete === true) {
    if (before === undefined) return failed(audience_id, `no audience ${audience_id}`);
    call.documents.remove(KIND, call.principal, audience_id);
    return { audience_id, action: "deleted" };
  }
  const added = (upload.add ?? []).map(digest);
  const removed = new Set((upload.remove ?? []).map(digest));
  const members = [...new Set([...(before?.members ?? []), ...added])].filter((one) => !removed.has(one));
  const kept: Audience = {
    audience_id,
    account_id: accountId,
    seller_id: before?.seller_id ?? call.id("aud"),
    ...(name !== undefined ? { name } : before?.name !== undefined && { name: before.name }),
    ...(description !== undefined
      ? { description }
      : before?.description !== undefined && { description: before.description }),
    members,
    last_synced_at: call.now.toISOString(),
  };
  const same =
    before !== undefined &&
    before.name === kept.name &&
    before.description === kept.description &&
    before.members.length === members.length &&
    added.every((one) => before.members.includes(one));
  if (!same) call.documents.put(KIND, call.principal, audience_id, kept);
  return shown(kept, before === undefined ? "created" : same ? "unchanged" : "updated", added.length);
}

/** Members are the same person when their own identifier is; else when all they are known by is. */
const digest = (member: object): string => {
  const { external_id, ...rest } = member as { external_id?: string };
  return createHash("sha256")
    .update(external_id ?? JSON.stringify(rest))
    .digest("base64url");
};

const failed = (audience_id: string, message: string): JsonObject => ({
  audience_id,
  action: "failed",
  errors: [{ code: "REFERENCE_NOT_FOUND", message, recovery: "correctable" }],
});

const shown = (
  { audience_id, name, seller_id, members, last_synced_at }: Audience,
  action: string,
  uploaded: number,
): JsonObject => ({
  audience_id,
  ...(name !== undefined && { name }),
  seller_id,
  action,
  status: members.length < MINIMUM_SIZE ? "too_small" : "ready",
  uploaded_count: uploaded,
  total_uploaded_count: members.length,
  minimum_size: MINIMUM_SIZE,
  ...(members.length >= MINIMUM_SIZE && { matched_count: members.length, effective_match_rate: 1 }),
  last_synced_at,
});
