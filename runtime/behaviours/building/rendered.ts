/** Creatives that a transformer makes: each is rendered once, paid, and kept so that it can be made better. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { ownerOfRef, spendingAccount } from "../accounts/accounts.js";
import { formatId } from "../formats/formats.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { isLate } from "../frame/patience.js";
import { repetitionOf } from "../frame/repetition.js";
import { requireUngoverned, requireWord } from "../governance/word.js";
import type { CreativeFormat } from "../ports/creatives.js";
import type { Transformer } from "../ports/transformers.js";
import { host } from "../previews/hosted.js";
import { type CreativeManifest, firstAssets, knownFormat } from "../previews/manifest.js";
import { keepCharge } from "../usage/charges.js";
import { canonical, isCanonical } from "./canonical.js";
import { checkedConfig } from "./config.js";
import { keepLeaf, type Leaf, leafOf } from "./leaves.js";
import { fromLibrary } from "./source.js";
import { type Build, expiry, refusedAt, targetField, targetsOf } from "./targets.js";
import { payerOf, TRANSFORMERS, transformersOf } from "./transformers.js";
import { type Cell, cellsOf } from "./variants.js";

/** Axes that nothing here turns: a creative each, which is not what who names them is asking for. */
const foreignAxes = ["max_creatives", "signal_conditions"] as const;

/** What nobody makes is not passed over: it is several creatives that are asked for. */
function checkAxes({ served }: BehaviourCall, request: Build, rendered: boolean): void {
  const several =
    request.variant_axis !== undefined ? "variant_axis" : (request.max_variants ?? 1) > 1 ? "max_variants" : undefined;
  const field = foreignAxes.find((axis) => request[axis] !== undefined) ?? (rendered ? undefined : several);
  if (field === undefined) return;
  const instead = field === several && served.has(TRANSFORMERS) ? ": name a transformer, which makes several" : "";
  throw new ToolError("UNSUPPORTED_FEATURE", `${field} is not for what is made here${instead}`, { field });
}

/**
 * Whether a request is for a transformer.
 * @throws ToolError UNSUPPORTED_FEATURE where there is none, and for more creatives than are made of one request
 */
export function isRender(call: BehaviourCall, request: Build): boolean {
  const fields = ["transformer_id", "refine_from_build_variant_id", "max_spend"] as const;
  const named = fields.find((field) => request[field] !== undefined);
  const beyond = named ?? (request.mode === "estimate" ? "mode" : undefined);
  if (beyond !== undefined && !call.served.has(TRANSFORMERS))
    throw new ToolError("UNSUPPORTED_FEATURE", `there are no transformers here: ${beyond} is for those`, {
      field: beyond,
    });
  const rendered = named === "transformer_id" || named === "refine_from_build_variant_id";
  checkAxes(call, request, rendered);
  return rendered;
}

/** What is to be made: by whom, in which formats, and how the knobs are put. */
interface Plan {
  readonly transformer: Transformer;
  readonly accountId: string | undefined;
  readonly targets: readonly CreativeFormat[];
  readonly cells: readonly Cell[];
  readonly message: string;
  readonly parent?: Leaf;
  /** Assets to start from. */
  readonly assets: CreativeManifest["assets"];
  readonly canonical: boolean;
}

async function transformerNamed(call: BehaviourCall, id: string, accountId: string | undefined): Promise<Transformer> {
  const found = (await transformersOf(call, accountId)).find(({ transformer_id }) => transformer_id === id);
  if (found !== undefined) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "the account has no such transformer; list_transformers lists them", {
    field: "transformer_id",
  });
}

/** @throws ToolError INVALID_REQUEST for a format that the transformer does not make */
async function outputsOf(call: BehaviourCall, of: Transformer, request: Build): Promise<CreativeFormat[]> {
  const targets = await targetsOf(call, request, { id: of.outputs[0] });
  const foreign = targets.findIndex(({ id }) => !of.outputs.includes(id));
  if (foreign < 0) return targets;
  const what = `${of.transformer_id} does not make ${targets[foreign]!.id}; it makes ${of.outputs.join(", ")}`;
  throw new ToolError("INVALID_REQUEST", what, { field: targetField(request, foreign) });
}

async function planOf(call: BehaviourCall, request: Build): Promise<Plan> {
  const { refine_from_build_variant_id: parentId, message = "", config = {} } = request;
  const parent = parentId === undefined ? undefined : await leafOf(call, parentId);
  const named = await payerOf(call, request.account);
  const accountId = named ?? parent?.account_id;
  const transformer = await transformerNamed(call, parent?.transformer_id ?? request.transformer_id!, accountId);
  // What is refined is put as it was, but for what is said now.
  const checked = await checkedConfig(call, { of: transformer, accountId }, { ...parent?.config, ...config });
  const targets =
    parent === undefined
      ? await outputsOf(call, transformer, request)
      : [await knownFormat(call, { id: parent.format }, "refine_from_build_variant_id")];
  return {
    transformer,
    accountId,
    targets,
    cells: await cellsOf(call, { of: transformer, accountId, config: checked }, request),
    message,
    assets: await assetsOf(call, request, parent),
    ...(parent !== undefined && { parent }),
    canonical: parent?.canonical ?? isCanonical(call, request),
  };
}

/** Of a creative of the library nothing else is taken, whatever stands beside its id. */
async function assetsOf(call: BehaviourCall, request: Build, parent: Leaf | undefined): Promise<Plan["assets"]> {
  const { creative_id: id, creative_manifest: given, account } = request;
  if (parent !== undefined) return parent.manifest.assets;
  if (id === undefined) return given?.assets ?? {};
  return firstAssets((await fromLibrary(call, id, await ownerOfRef(call, account))).assets);
}

interface Made {
  readonly leaf: Leaf;
  readonly cell: Cell;
  readonly shown: CreativeManifest;
  readonly score: number | undefined;
}

async function makeOne(
  call: BehaviourToolCall,
  { plan, request }: { plan: Plan; request: Build },
  { format, cell, at }: { format: CreativeFormat; cell: Cell; at: number },
): Promise<Made> {
  const { transformer, accountId, message, parent, assets: given } = plan;
  const job = {
    ...{ principal: call.principal, accountId, transformer, format, message, config: cell.config },
    assets: given,
    ...(cell.variant !== undefined && { variant: cell.variant }),
    ...(parent !== undefined && { before: { message: parent.message, config: parent.config } }),
    quality: request.quality ?? ("production" as const),
  };
  const made = await call.ports.transformers.render(job, { idempotencyKey: repetitionOf(call, request, at) });
  const expires = expiry(call, request);
  const files = Object.entries(made.files ?? {}).map(([name, { type, body, asset }]) => {
    const { url } = host(call, { type, content: Buffer.from(body).toString("base64"), encoded: "base64", expires });
    return [name, { ...asset, url }];
  });
  const assets = { ...made.assets, ...(Object.fromEntries(files) as CreativeManifest["assets"]) };
  const manifest = { format_id: formatId(call, format), assets };
  const leaf: Leaf = {
    build_variant_id: call.id("bv"),
    ...(parent !== undefined && { parent_build_variant_id: parent.build_variant_id }),
    ...{ transformer_id: transformer.transformer_id, account_id: accountId, format: format.id },
    ...{ config: cell.config, message, manifest, canonical: plan.canonical, made_at: call.time },
  };
  keepLeaf(call, leaf);
  if (transformer.price !== undefined) {
    const { pricing_option_id, unit_price: cost, currency } = transformer.price;
    keepCharge(call, leaf.build_variant_id, { account_id: accountId, pricing_option_id, cost, currency });
  }
  return { leaf, cell, shown: plan.canonical ? await canonical(call, manifest) : manifest, score: made.score };
}

/** Amounts to a millionth: sums of prices have no dust. */
const exact = (amount: number): number => Math.round(amount * 1_000_000) / 1_000_000;

const costOf = ({ price }: Transformer, count: number): JsonObject =>
  price === undefined
    ? {}
    : {
        pricing_option_id: price.pricing_option_id,
        vendor_cost: exact(price.unit_price * count),
        currency: price.currency,
      };

/** How many may be made for what may be spent. @throws ToolError INVALID_REQUEST, BUDGET_CAP_REACHED */
function affordable({ price }: Transformer, { max_spend: cap }: Build, wanted: number): number {
  if (cap === undefined || price === undefined) return wanted;
  if (cap.currency !== price.currency)
    throw new ToolError("INVALID_REQUEST", `it is paid in ${price.currency}`, { field: "max_spend.currency" });
  if (price.unit_price <= 0) return wanted;
  const most = Math.min(wanted, Math.floor(exact(cap.amount / price.unit_price)));
  if (most > 0) return most;
  throw new ToolError("BUDGET_CAP_REACHED", `one costs ${price.unit_price} ${price.currency}, more than max_spend`, {
    field: "max_spend.amount",
  });
}

function estimated({ transformer, targets, cells }: Plan, leaves: number): JsonObject {
  const { price } = transformer;
  const cost = exact((price?.unit_price ?? 0) * leaves);
  const estimate = {
    ...{ items_total: targets.length, items_to_produce: targets.length, variants_per_item: cells.length },
    ...{ leaves_total: leaves, currency: price?.currency ?? "USD", cost_low: cost, cost_high: cost, basis: "fixed" },
  };
  return { mode: "estimate", estimate };
}

/** The word of the account's governance agent, before anything is paid. */
async function governed(
  call: BehaviourToolCall,
  { transformer, accountId }: Plan,
  request: Build,
  leaves: number,
): Promise<() => Promise<void>> {
  const amount = exact((transformer.price?.unit_price ?? 0) * leaves);
  if (amount === 0) return async () => undefined;
  // What is refined is paid by whom it was made for, where nobody else is named.
  const payer = request.account ?? (accountId === undefined ? undefined : { account_id: accountId });
  if (payer === undefined) {
    await requireUngoverned(call);
    return async () => undefined;
  }
  const account = await spendingAccount(call, payer);
  const currency = transformer.price?.currency;
  // What is done again is paid once.
  const what = `build_${repetitionOf(call, request, "all")}`;
  return requireWord(call, account, { tool: "build_creative", what, request, amount, currency });
}

/** `build_creative` by a transformer. */
export async function renderCreative(call: BehaviourToolCall, request: Build): Promise<JsonObject> {
  const plan = await planOf(call, request);
  const { transformer, targets, cells } = plan;
  const jobs = targets.flatMap((format, target) => cells.map((cell) => ({ format, cell, target })));
  if (request.mode === "estimate") return estimated(plan, jobs.length);
  const count = affordable(transformer, request, jobs.length);
  const giveBack = await governed(call, plan, request, count);
  const made: Made[] = [];
  try {
    for (const [at, { target, ...job }] of jobs.slice(0, count).entries()) {
      const one = makeOne(call, { plan, request }, { ...job, at });
      made.push(await one.catch((error: unknown) => Promise.reject(refusedAt(request, target, error))));
    }
  } catch (error) {
    // Of what was paid already nothing is given back, nor of what may have been made: done again, it is paid under the same key.
    if (made.length === 0 && !isLate(error)) await giveBack();
    throw error;
  }
  const cost = costOf(transformer, count);
  const expires_at = expiry(call, request);
  const capped = count < jobs.length;
  const apart = plan.parent !== undefined || request.variant_axis !== undefined || cells.length > 1 || capped;
  if (apart) return { ...variants(plan, made, request), ...capStated(count, jobs.length), expires_at };
  if (targets.length > 1 || request.target_format_ids !== undefined || request.target_capability_ids !== undefined)
    return { creative_manifests: made.map(({ shown }) => shown), expires_at, ...cost };
  const [{ leaf, shown }] = made as [Made];
  return { creative_manifest: shown, build_variant_id: leaf.build_variant_id, expires_at, ...cost };
}

const capStated = (made: number, wanted: number): JsonObject => {
  if (made === wanted) return { leaves_total: wanted, leaves_returned: made, budget_status: "complete" };
  const message = `${made} of ${wanted} were made: the next would cost more than max_spend`;
  const errors = [{ code: "BUDGET_CAP_REACHED", message, recovery: "correctable" }];
  return { leaves_total: wanted, leaves_returned: made, budget_status: "capped", errors };
};

/** The best come first where their maker has judged them. */
function judged(made: readonly Made[], keep: string | undefined): (one: Made) => JsonObject {
  const ranked = made.every(({ score }) => score !== undefined)
    ? [...made].sort((a, b) => b.score! - a.score!)
    : undefined;
  return (one) => {
    if (keep !== "keep_one" && keep !== "keep_some") return {};
    const rank = ranked === undefined ? undefined : ranked.indexOf(one) + 1;
    return { ...(rank !== undefined && { rank }), recommended: rank === undefined ? one === made[0] : rank === 1 };
  };
}

/** One group for each format that was asked for, with what there is to choose among. */
function variants({ transformer, targets, parent }: Plan, made: readonly Made[], request: Build): JsonObject {
  const { keep_mode } = request;
  const each = costOf(transformer, 1);
  const { vendor_cost, currency } = costOf(transformer, made.length);
  const groups = targets.flatMap((format) => {
    const own = made.filter(({ leaf }) => leaf.format === format.id);
    if (own.length === 0) return [];
    const judge = judged(own, keep_mode);
    const shown = own.map((one) => ({
      build_variant_id: one.leaf.build_variant_id,
      ...(parent !== undefined && { parent_build_variant_id: parent.build_variant_id }),
      creative_manifest: one.shown,
      ...(one.cell.variant?.value !== undefined && { variant_axis_value: one.cell.variant.value }),
      ...judge(one),
      ...each,
    }));
    return [{ build_creative_id: `bc_${own[0]!.leaf.build_variant_id}`, variants: shown }];
  });
  return {
    creatives: groups,
    items_total: targets.length,
    items_returned: groups.length,
    ...(vendor_cost !== undefined && { vendor_cost, currency }),
    ...(keep_mode !== undefined && { keep_mode_applied: keep_mode }),
  };
}
