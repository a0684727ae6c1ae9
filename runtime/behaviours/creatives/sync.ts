import { createHash } from "node:crypto";
import type { JsonObject, ProtocolError } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import { type CreativeChange, keepChanged, toldOfCreatives } from "../buys/impairments.js";
import { takenFormat } from "../formats/formats.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import {
  type Creative,
  type CreativeState,
  creativeFor,
  creativesOf,
  findCreative,
  mayUse,
  readCreatives,
} from "../library/creatives.js";
import { type Localization, localizationProblem, localizationShown } from "../library/localization.js";
import { formatProblems, uploadProblems } from "../library/review.js";
import type { CreativeUpload } from "../ports/creatives.js";
import { assignAll, type WantedAssignment } from "./assign.js";
import { knowsNames } from "./identity.js";
import { type PlacedUpload, placeProblems } from "./placed.js";

interface Wanted {
  readonly account: AccountRef;
  readonly creatives?: readonly CreativeUpload[];
  readonly creative_ids?: readonly string[];
  readonly assignments?: readonly WantedAssignment[];
  readonly delete_missing?: boolean;
  readonly dry_run?: boolean;
  readonly validation_mode?: string;
}

/**
 * `sync_creatives`: uploads into the library, then assignments to packages. In strict mode one that is not what its format asks
 * for stops all; what the seller says of each, and of its languages, is its own outcome.
 * @throws ToolError
 */
export const syncCreatives: ToolBehaviour = async (request: Wanted, call) => {
  const dryRun = request.dry_run === true;
  if (request.delete_missing === true && request.creative_ids !== undefined)
    throw new ToolError("INVALID_REQUEST", "it is of the whole library: leave it out, or creative_ids", {
      field: "delete_missing",
    });
  const { account_id: accountId } = await spendingAccount(call, request.account, dryRun);
  const wanted = request.creative_ids === undefined ? undefined : new Set(request.creative_ids);
  const uploads = (request.creatives ?? []).filter((one) => wanted?.has(one.creative_id) ?? true);
  if (request.validation_mode !== "lenient") await refuseInvalid(call, uploads);
  const assigning = (request.assignments ?? []).map(({ creative_id }) => creative_id);
  await readCreatives(call, [...uploads.map(({ creative_id }) => creative_id), ...assigning]);
  const results: SyncedLine[] = [];
  const all = { accountId, dryRun, changes: [] };
  for (const [index, upload] of uploads.entries())
    results.push(await takeUpload(call, { ...all, upload, field: `creatives[${index}]` }));
  if (request.delete_missing === true) results.push(...(await archiveMissing(call, { ...all, uploads })));
  await toldOfCreatives(call, all.changes);
  const rehearsed = dryRun ? new Set(results.flatMap((one) => (isKept(one) ? one.creative_id : []))) : undefined;
  const assigned = await assignAll(call, request.assignments ?? [], { accountId, rehearsed });
  const sent = new Set(results.map(({ creative_id }) => creative_id));
  for (const id of assigned.keys()) if (!sent.has(id)) results.push(await assignedLine(call, id, accountId));
  const shown = results.map((one) => ({ ...one, ...assigned.get(one.creative_id) }));
  return call.answer({ creatives: shown, ...(dryRun && { dry_run: true }) });
};

type SyncedLine = JsonObject & { readonly creative_id: string };

const isKept = ({ action }: SyncedLine): boolean => action !== "failed" && action !== "deleted";

/** The account's creatives that were not sent; buys that use one are told as of any that goes off the air. */
async function archiveMissing(
  call: BehaviourCall,
  {
    accountId,
    uploads,
    dryRun,
    changes,
  }: Omit<Upload, "upload" | "field"> & { readonly uploads: readonly CreativeUpload[] },
): Promise<SyncedLine[]> {
  const named = new Set(uploads.map(({ creative_id }) => creative_id));
  const missing = (await creativesOf(call)).filter(
    ({ account_id, creative_id, status }) =>
      account_id === accountId && status !== "archived" && !named.has(creative_id),
  );
  for (const one of missing)
    if (!dryRun) await kept(call, { ...one, status: "archived", updated_date: call.time }, changes);
  return missing.map(({ creative_id }) => ({ creative_id, action: "deleted" }));
}

/** A creative that was not sent, but assigned. */
async function assignedLine(call: BehaviourCall, creative_id: string, accountId: string): Promise<SyncedLine> {
  const found = await creativeFor(call, creative_id, accountId);
  if (found !== undefined) return { creative_id, action: "unchanged", status: found.status };
  const message = `there is no creative ${creative_id}: send it first`;
  return {
    creative_id,
    action: "failed",
    errors: [{ code: "CREATIVE_NOT_FOUND", message, field: "assignments", recovery: "correctable" }],
  };
}

/** @throws ToolError of the first upload that is not what its format asks for */
async function refuseInvalid(call: BehaviourCall, uploads: readonly CreativeUpload[]): Promise<void> {
  for (const [index, upload] of uploads.entries()) {
    const [first] = await formatProblems(call, upload, `creatives[${index}]`);
    if (first !== undefined) throw new ToolError(first.code, first.message, first);
  }
}

interface LocalizedUpload extends CreativeUpload {
  /** `null` takes the languages away; left out, those that there are stay. */
  readonly localization?: Localization | null;
}

interface Upload extends PlacedUpload {
  readonly upload: LocalizedUpload;
  readonly dryRun: boolean;
  /** What buys are to be told of, when all of the request is taken. */
  readonly changes: CreativeChange[];
}

async function kept(call: BehaviourCall, creative: Creative, changes: CreativeChange[]): Promise<void> {
  const change = await keepChanged(call, creative);
  if (change !== undefined) changes.push(change);
}

async function takeUpload(call: BehaviourCall, given: Upload): Promise<SyncedLine> {
  const { upload, field } = given;
  const found = [
    ...(await ownerProblems(call, given)),
    ...(await uploadProblems(call, upload, field)),
    ...(await languageProblems(call, given)),
  ];
  const outcome = found.length > 0 ? found : await keepUpload(call, given);
  return Array.isArray(outcome)
    ? { creative_id: upload.creative_id, action: "failed", errors: outcome }
    : { creative_id: upload.creative_id, ...(outcome as JsonObject) };
}

/** A creative stays with the account that it was uploaded for. */
async function ownerProblems(call: BehaviourCall, { accountId, upload, field }: Upload): Promise<ProtocolError[]> {
  const before = await findCreative(call, upload.creative_id);
  if (before === undefined || mayUse(accountId, before)) return [];
  const message = "another account has a creative of this id: choose another id";
  return [{ code: "CREATIVE_REJECTED", message, field: `${field}.creative_id`, recovery: "correctable" }];
}

async function languageProblems(call: BehaviourCall, { upload, field }: Upload): Promise<ProtocolError[]> {
  const wrong = localizationProblem(upload, field);
  if (wrong !== undefined) return [wrong];
  const before = await findCreative(call, upload.creative_id);
  const same = JSON.stringify(before?.assets) === JSON.stringify(upload.assets);
  if (before?.localization === undefined || upload.localization !== undefined || same) return [];
  const message = "its other languages were made from other assets: give localization anew, or null to do without";
  return [{ code: "VALIDATION_ERROR", message, field: `${field}.localization`, recovery: "correctable" }];
}

/** Uploads that come with a package of a buy, whose others may name them too. @throws ToolError CREATIVE_REJECTED */
export async function storeCreatives(
  call: BehaviourCall,
  accountId: string,
  {
    uploads = [],
    ...packages
  }: { readonly uploads?: readonly CreativeUpload[] | undefined } & Pick<Upload, "packages" | "mediaBuyId">,
): Promise<void> {
  const all = { accountId, ...packages, dryRun: false, changes: [] };
  await readCreatives(
    call,
    uploads.map(({ creative_id }) => creative_id),
  );
  for (const [index, upload] of uploads.entries()) {
    const taken = await takeUpload(call, { ...all, upload, field: `creatives[${index}]` });
    const [first] = (taken.errors ?? []) as ProtocolError[];
    if (first !== undefined) throw new ToolError("CREATIVE_REJECTED", first.message, { field: first.field ?? "" });
  }
  await toldOfCreatives(call, all.changes);
}

async function keepUpload(call: BehaviourCall, given: Upload): Promise<JsonObject | readonly ProtocolError[]> {
  const { accountId, upload, dryRun, changes } = given;
  const { creative_id, name, format_id, assets, tags, localization: wanted, ...more } = upload;
  const before = await findCreative(call, creative_id);
  const localization = wanted === undefined ? before?.localization : (wanted ?? undefined);
  const content = createHash("sha256")
    .update(JSON.stringify([name, format_id, assets, tags, more, localization]))
    .digest("hex");
  const read = localization === undefined ? {} : { localization: localizationShown(localization, assets) };
  // What is sent again is wanted again.
  if (before?.content === content && before.status !== "archived")
    return { action: "unchanged", status: before.status, ...read };
  const misplaced = await placeProblems(call, given);
  if (misplaced.length > 0) return misplaced;
  const verdict = await reviewed(call, upload, before?.status);
  if (typeof verdict !== "string") return verdict;
  const made: Creative = {
    creative_id,
    account_id: accountId,
    name,
    ...(format_id !== undefined && { format_id, ...(knowsNames(call) && { byName: true }) }),
    assets,
    ...(tags !== undefined && { tags }),
    status: verdict,
    created_date: before?.created_date ?? call.time,
    updated_date: call.time,
    content,
    ...(localization !== undefined && { localization }),
    more: { ...more },
  };
  if (!dryRun) await kept(call, made, changes);
  return { action: before === undefined ? "created" : "updated", status: made.status, ...read };
}

/** The seller's word; else formats that it takes are checked by machine, and another agent's by a human. */
async function reviewed(
  call: BehaviourCall,
  upload: CreativeUpload,
  before: CreativeState | undefined,
): Promise<CreativeState | readonly ProtocolError[]> {
  const verdict = await call.ports.creatives.review?.(upload, { principal: call.principal });
  if (verdict === "approved" || verdict === "pending_review" || Array.isArray(verdict)) return verdict;
  if (verdict != null)
    throw new AdbindError("port_answer_invalid", `a creative is ${JSON.stringify(verdict)}`, {
      where: "review of the port creatives",
      remedy: "answer approved, pending_review or a list of errors",
    });
  if (before === "rejected") return "pending_review";
  if (before === "approved" || before === "archived") return "approved";
  const { format_id } = upload;
  const taken =
    format_id === undefined ||
    format_id.agent_url === call.agentUrl ||
    (await takenFormat(call, format_id)) !== undefined;
  return taken ? "approved" : "pending_review";
}
