import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { ownerOfRef } from "../accounts/accounts.js";
import { creative } from "../creatives/creatives.js";

type Usage = Request<"report_usage">["usage"][number];

/** Use of a creative, as its buyer has reported it. */
export interface KeptUsage {
  readonly creative_id: string;
  readonly media_buy_id?: string;
  readonly impressions: number;
  readonly spend: number;
  readonly start: string;
  readonly end: string;
}

const KIND = "usage";

/** What rounding may make of an amount. */
const TOLERANCE = 0.01;

export const usageOf = (call: Call, owner: string): KeptUsage[] => call.documents.list<KeptUsage>(KIND, owner);

interface Fault {
  readonly field: string;
  readonly message: string;
}

/** Why a record is not taken. */
function faultOf(call: Call, record: Usage): Fault | undefined {
  const { creative_id: id, pricing_option_id: option, impressions = 0, vendor_cost: cost, currency } = record;
  if (id === undefined) return { field: "creative_id", message: "only the use of creatives is billed here" };
  const found = creative(call, id);
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

/** `report_usage`: takes the records that are in order, and says what is wrong with the others. */
export function reportUsage(call: Call, request: Request<"report_usage">): JsonObject {
  const { start, end } = request.reporting_period;
  const errors: JsonObject[] = [];
  let accepted = 0;
  request.usage.forEach((record, index) => {
    const fault = accountFault(call, record) ?? faultOf(call, record);
    if (fault !== undefined) {
      errors.push({ code: "INVALID_REQUEST", message: fault.message, field: `usage[${index}].${fault.field}` });
      return;
    }
    const kept: KeptUsage = {
      creative_id: record.creative_id as string,
      ...(record.media_buy_id !== undefined && { media_buy_id: record.media_buy_id }),
      impressions: record.impressions ?? 0,
      spend: record.vendor_cost,
      start,
      end,
    };
    call.documents.put(KIND, ownerOf(call, record), call.id("use"), kept);
    accepted += 1;
  });
  return { accepted, ...(errors.length > 0 && { errors }) };
}

const ownerOf = (call: Call, { account }: Usage): string => ownerOfRef(call, account);

function accountFault(call: Call, record: Usage): Fault | undefined {
  try {
    ownerOf(call, record);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { field: "account", message: error.message };
  }
}
