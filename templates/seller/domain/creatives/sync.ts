import { createHash } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { spendingAccount } from "../accounts/accounts.js";
import { buysOf, type MediaBuy, saveBuy, stateOf, terminal } from "../media-buys/media-buy.js";
import { type Creative, type CreativeState, creative, creatives, removeCreative, saveCreative } from "./creatives.js";
import { problems, type Upload } from "./review.js";

type Wanted = Request<"sync_creatives">;

/**
 * `sync_creatives`: uploads into the library, then assignments to packages. Each creative has its own outcome; in
 * strict mode one that cannot be taken stops all.
 */
export function syncCreativeLibrary(call: Call, request: Wanted): JsonObject {
  const { account_id: accountId } = spendingAccount(call, request.account);
  const wanted = request.creative_ids === undefined ? undefined : new Set<string>(request.creative_ids as string[]);
  const uploads = (request.creatives as unknown as Upload[]).filter((one) => wanted?.has(one.creative_id) ?? true);
  const dryRun = request.dry_run === true;
  const checked = uploads.map((upload, index) => ({ upload, found: problems(call, upload, `creatives[${index}]`) }));
  const results = checked.map(({ upload, found }) =>
    found.length > 0
      ? { creative_id: upload.creative_id, action: "failed", errors: found }
      : store(call, accountId, upload, dryRun),
  );
  if (request.delete_missing === true && !dryRun) {
    const kept = new Set(uploads.map(({ creative_id }) => creative_id));
    for (const { creative_id, account_id } of creatives(call)) {
      if (account_id !== accountId || kept.has(creative_id)) continue;
      removeCreative(call, creative_id);
      results.push({ creative_id, action: "deleted" });
    }
  }
  const assigned = dryRun ? new Map<string, Assigned>() : assign(call, request);
  const shown = results.map((one) => ({ ...one, ...assigned.get(one.creative_id as string) }));
  return { creatives: shown, ...(dryRun && { dry_run: true }) };
}

/** Uploads that come with a package of a buy. @throws ToolError CREATIVE_REJECTED */
export function storeCreatives(call: Call, accountId: string, uploads: readonly Upload[]): void {
  for (const [index, upload] of uploads.entries()) {
    const [first] = problems(call, upload, `creatives[${index}]`);
    if (first !== undefined) throw new ToolError("CREATIVE_REJECTED", first.message, { field: first.field ?? "" });
    store(call, accountId, upload, false);
  }
}

function store(call: Call, accountId: string, upload: Upload, dryRun: boolean): JsonObject {
  const { creative_id, name, format_id, assets, tags } = upload;
  const content = createHash("sha256")
    .update(JSON.stringify([name, format_id, assets, tags]))
    .digest("hex");
  const before = creative(call, creative_id);
  if (before?.content === content) return { creative_id, action: "unchanged", status: before.status };
  const time = call.now.toISOString();
  const kept: Creative = {
    creative_id,
    account_id: accountId,
    name,
    format_id,
    assets,
    ...(tags !== undefined && { tags }),
    status: statusAfterUpload(call, upload, before?.status),
    created_date: before?.created_date ?? time,
    updated_date: time,
    content,
  };
  if (!dryRun) saveCreative(call, kept);
  return { creative_id, action: before === undefined ? "created" : "updated", status: kept.status };
}

/** Our own formats are checked by machine; another agent's by a human, unless one has let an earlier version pass. */
function statusAfterUpload(call: Call, { format_id }: Upload, before: CreativeState | undefined): CreativeState {
  if (before === "rejected") return "pending_review";
  if (before === "approved" || before === "archived") return "approved";
  return format_id.agent_url === call.agentUrl ? "approved" : "pending_review";
}

interface Assigned {
  assigned_to?: string[];
  assignment_errors?: Record<string, string>;
}

/** Creatives onto packages of buys that still change. */
function assign(call: Call, request: Wanted): Map<string, Assigned> {
  const outcome = new Map<string, Assigned>();
  for (const { creative_id, package_id, weight, placement_ids } of request.assignments ?? []) {
    const own = outcome.get(creative_id) ?? {};
    outcome.set(creative_id, own);
    const reason = assignOne(call, {
      creative_id,
      package_id,
      ...(weight !== undefined && { weight }),
      ...(placement_ids !== undefined && { placement_ids }),
    });
    if (reason === undefined) own.assigned_to = [...(own.assigned_to ?? []), package_id];
    else own.assignment_errors = { ...own.assignment_errors, [package_id]: reason };
  }
  return outcome;
}

interface Wish {
  readonly creative_id: string;
  readonly package_id: string;
  readonly weight?: number;
  readonly placement_ids?: readonly string[];
}

/** @returns why it cannot be */
function assignOne(call: Call, { package_id, ...wish }: Wish): string | undefined {
  if (creative(call, wish.creative_id) === undefined) return `no creative ${wish.creative_id}`;
  const buy = buysOf(call).find(({ packages }) => packages.some((one) => one.package_id === package_id));
  if (buy === undefined) return `no package ${package_id}`;
  if (terminal.has(stateOf(call, buy))) return `its media buy is ${stateOf(call, buy)}`;
  const timestamp = call.now.toISOString();
  const revision = buy.revision + 1;
  const changed: MediaBuy = {
    ...buy,
    revision,
    updated_at: timestamp,
    packages: buy.packages.map((one) =>
      one.package_id !== package_id
        ? one
        : {
            ...one,
            creative_assignments: [
              ...one.creative_assignments.filter(({ creative_id }) => creative_id !== wish.creative_id),
              wish,
            ],
          },
    ),
    history: [...buy.history, { revision, timestamp, action: "creative_assigned", package_id }],
  };
  saveBuy(call, changed);
  return undefined;
}
