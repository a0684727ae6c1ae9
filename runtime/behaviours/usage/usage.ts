import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, ownerOfRef, resolveAccount } from "../accounts/accounts.js";
import { findBuy } from "../buys/buys.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner, ownerText } from "../frame/collection.js";
import { findCreative, ownerMayUse } from "../library/creatives.js";
import { billsCreatives, type Charge, chargeOf, keepCharge } from "./charges.js";
import { type KeptUsage, settledUsage } from "./settled.js";

interface Usage {
  readonly account?: AccountRef;
  readonly creative_id?: string;
  /** What the creative was made as, where it goes by another name. */
  readonly build_variant_id?: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
  readonly pricing_option_id?: string;
  readonly impressions?: number;
  readonly vendor_cost: number;
  readonly currency: string;
  /** These figures are what is billed. */
  readonly final?: boolean;
  readonly finalized_at?: string;
  readonly measurement_window?: string;
}

interface Period {
  readonly start: string;
  readonly end: string;
}

interface Wanted {
  readonly reporting_period: Period;
  readonly usage: readonly Usage[];
}

const kept = collection<KeptUsage>("usage");

/** What rounding may make of an amount. */
const TOLERANCE = 0.01;

/** What was used of what an owner has, as it was last told; in the order in which it was first told. */
export const usageOf = async (call: BehaviourCall, owner: DocumentOwner): Promise<KeptUsage[]> =>
  settledUsage(await kept.list(call, owner));

interface Fault {
  readonly field: string;
  readonly message: string;
  /** INVALID_REQUEST where left out. */
  readonly code?: string;
}

const OUT_OF_BAND = "BILLING_OUT_OF_BAND";

/** Nothing is billed for a creative without a price, but where what makes creatives has prices itself. */
const unbilled = (call: BehaviourCall, id: string): Fault | undefined =>
  !billsCreatives(call) && call.shapes.knowsError(OUT_OF_BAND)
    ? { field: "creative_id", message: `use of ${id} is not billed here`, code: OUT_OF_BAND }
    : undefined;

/** Use of what was made here is owed once, as it was made, or not again. */
async function chargeFault(
  call: BehaviourCall,
  record: Usage,
  { charge, period }: { charge: Charge; period: Period },
): Promise<Fault | undefined> {
  const { account, pricing_option_id: option, vendor_cost: cost, currency } = record;
  const { account_id, pricing_option_id, cost: owed, currency: billed, reported } = charge;
  if (
    account !== undefined &&
    account_id !== undefined &&
    (await resolveAccount(call, account)).account_id !== account_id
  )
    return { field: "account", message: `${account_id} has paid for it` };
  if (option !== undefined && option !== pricing_option_id)
    return { field: "pricing_option_id", message: `it was made at ${pricing_option_id}` };
  if (currency !== billed) return { field: "currency", message: `it is billed in ${billed}` };
  if (cost === 0) return undefined;
  if (Math.abs(owed - cost) > TOLERANCE)
    return { field: "vendor_cost", message: `it has cost ${owed} ${billed}, not ${cost}` };
  const owner = ownerText(await ownerOfRef(call, account));
  if (reported === undefined || isDeepStrictEqual(reported, { ...period, owner })) return undefined;
  const message = `it is owed once, and was from ${reported.start} to ${reported.end}: more use of it costs nothing`;
  return { field: "vendor_cost", message };
}

/** What was charged for what a record is of. */
async function chargedFor(call: BehaviourCall, { build_variant_id, creative_id }: Usage) {
  const made = build_variant_id ?? creative_id;
  const charge = made === undefined ? undefined : await chargeOf(call, made);
  return made === undefined || charge === undefined ? undefined : { made, charge };
}

/** Why a record is not taken. */
async function faultOf(call: BehaviourCall, record: Usage, period: Period): Promise<Fault | undefined> {
  const { creative_id: id, pricing_option_id: option, impressions = 0, vendor_cost: cost, currency } = record;
  const charged = await chargedFor(call, record);
  if (charged !== undefined) return chargeFault(call, record, { charge: charged.charge, period });
  if (id === undefined) return buyFault(call, record);
  const known = await findCreative(call, id);
  const found = known !== undefined && ownerMayUse(await ownerOfRef(call, record.account), known) ? known : undefined;
  if (found?.pricing_options === undefined) {
    const fault = unbilled(call, id);
    if (fault !== undefined) return fault;
  }
  if (found === undefined) return { field: "creative_id", message: `there is no creative ${id}` };
  const price = found.pricing_options?.find(({ pricing_option_id }) => pricing_option_id === option);
  if (price === undefined) {
    return { field: "pricing_option_id", message: `${option ?? "no option"} is not how ${id} is billed` };
  }
  if (currency !== price.currency) return { field: "currency", message: `${id} is billed in ${price.currency}` };
  const owed = (impressions * price.cpm) / 1_000;
  return Math.abs(owed - cost) <= Math.max(TOLERANCE, owed * TOLERANCE)
    ? undefined
    : { field: "vendor_cost", message: `${impressions} impressions cost ${owed} ${currency}, not ${cost}` };
}

/** Use of a media buy is billed at the prices of its packages. */
async function buyFault(call: BehaviourCall, record: Usage): Promise<Fault | undefined> {
  const { media_buy_id: id, package_id, pricing_option_id: option, currency } = record;
  if (id === undefined) return { field: "creative_id", message: "it names neither a creative nor a media buy" };
  // Thousands of records may be of one, and no report changes it.
  const buy = await call.once(`buy ${id} that was used`, () => findBuy(call, id));
  // Another account's is not told apart from one that is not there.
  const foreign =
    record.account !== undefined && (await resolveAccount(call, record.account)).account_id !== buy?.account_id;
  if (buy === undefined || foreign) return { field: "media_buy_id", message: "there is no such media buy" };
  const lines = buy.packages.filter((one) => package_id === undefined || one.package_id === package_id);
  if (lines.length === 0) return { field: "package_id", message: `there is no package ${package_id} in it` };
  if (option !== undefined && lines.every(({ pricing_option_id }) => pricing_option_id !== option))
    return { field: "pricing_option_id", message: `${option} is not how ${id} is billed` };
  return currency === buy.currency ? undefined : { field: "currency", message: `${id} is billed in ${buy.currency}` };
}

/** Where a report stands. */
interface Report {
  readonly id: string;
  readonly period: Period;
  /** Records of it that say the same, so far. */
  readonly seen: Map<string, number>;
}

/** The same use is owed once, under however many keys it is reported; what a request says twice is two. */
function placeOf({ account: _, ...said }: Usage, owner: DocumentOwner, { period, seen }: Report): string {
  const same = canonicalize({ ...said, ...period }) ?? "";
  const times = (seen.get(ownerText(owner) + same) ?? 0) + 1;
  seen.set(ownerText(owner) + same, times);
  return `${times} ${same}`;
}

async function keepUsage(call: BehaviourCall, record: Usage, report: Report): Promise<void> {
  const { creative_id, media_buy_id, package_id, final, finalized_at, measurement_window } = record;
  const used: KeptUsage = {
    ...(creative_id !== undefined && { creative_id }),
    ...(media_buy_id !== undefined && { media_buy_id }),
    ...(package_id !== undefined && { package_id }),
    impressions: record.impressions ?? 0,
    spend: record.vendor_cost,
    currency: record.currency,
    ...(final !== undefined && { final }),
    ...(finalized_at !== undefined && { finalized_at }),
    ...(measurement_window !== undefined && { measurement_window }),
    ...report.period,
    report: report.id,
    reported_at: call.time,
  };
  const owner = await ownerOfRef(call, record.account);
  const charged = record.vendor_cost === 0 ? undefined : await chargedFor(call, record);
  if (charged !== undefined)
    keepCharge(call, charged.made, { ...charged.charge, reported: { ...report.period, owner: ownerText(owner) } });
  const place = charged === undefined ? placeOf(record, owner, report) : `paid ${charged.made}`;
  kept.put(call, owner, `use_${hash("sha256", place).slice(0, 32)}`, used);
}

const inUtc = (time: string): string => new Date(time).toISOString();

/** `report_usage`: takes the records that are in order, and says what is wrong with the others. */
export const reportUsage: ToolBehaviour = async (request: Wanted, call) => {
  const period = { start: inUtc(request.reporting_period.start), end: inUtc(request.reporting_period.end) };
  if (period.end < period.start)
    throw new ToolError("INVALID_REQUEST", "the period ends before it starts", { field: "reporting_period.end" });
  const errors: JsonObject[] = [];
  const report = { id: call.id("report"), period, seen: new Map<string, number>() };
  let accepted = 0;
  for (const [index, record] of request.usage.entries()) {
    const fault = (await accountFault(call, record)) ?? (await faultOf(call, record, period));
    if (fault !== undefined) {
      const { code = "INVALID_REQUEST", message, field } = fault;
      const recovery = call.release.errors[code]?.recovery;
      errors.push({ code, message, field: `usage[${index}].${field}`, ...(recovery !== undefined && { recovery }) });
      continue;
    }
    await keepUsage(call, record, report);
    accepted += 1;
  }
  return call.answer({ accepted, ...(errors.length > 0 && { errors }) });
};

async function accountFault(call: BehaviourCall, record: Usage): Promise<Fault | undefined> {
  try {
    await ownerOfRef(call, record.account);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { field: "account", message: error.message };
  }
}
