/** What a buyer sets for a whole buy, beside its packages. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { MediaBuy } from "../buys/buys.js";
import { reportingOfAll } from "../delivery/periods.js";
import type { BehaviourCall } from "../frame/call.js";
import { checkSharedCap } from "./caps.js";

/** Controls of how the money of a buy is spent: whoever runs it is told of them. */
const controls = ["daily_budget_cap", "frequency_cap", "pacing", "bidding"] as const;

/** Fields of a buy that the buyer may set again. */
export const settable: readonly string[] = ["reporting_webhook", "invoice_recipient", "name", ...controls];

/** Those that are set. */
export const controlsIn = (terms: JsonObject): JsonObject =>
  Object.fromEntries(controls.flatMap((name) => (terms[name] === undefined ? [] : [[name, terms[name]]])));

/** Terms of a buy or a package as a change leaves them: null takes one away. */
export const changedTerms = (terms: JsonObject, change: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries({ ...terms, ...change }).flatMap(([name, value]) =>
      value == null ? [] : [[name, booked(name, value)]],
    ),
  );

/** Of where reports go the books have how often they do: the rest is the sender's, which keeps its secrets sealed. */
const booked = (name: string, value: unknown): unknown =>
  name === "reporting_webhook" && isJsonObject(value) ? { reporting_frequency: value.reporting_frequency } : value;

/** Is one of them changed? */
export const setsControl = (request: object): boolean => controls.some((name) => Object.hasOwn(request, name));

/**
 * What nobody here does, and could not be left out without the money being spent otherwise than was asked.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
export function checkSupported(request: {
  readonly budget_allocation?: unknown;
  readonly budget_cap_timezone?: unknown;
}): void {
  const { budget_allocation: allocation, budget_cap_timezone: zone } = request;
  if ((allocation as { readonly mode?: string } | undefined)?.mode === "seller_optimized")
    throw new ToolError("UNSUPPORTED_FEATURE", "budgets are fixed here, package by package: none moves to another", {
      field: "budget_allocation.mode",
    });
  if (zone != null)
    throw new ToolError("UNSUPPORTED_FEATURE", "the day of a cap is the seller's here, and not the buyer's to choose", {
      field: "budget_cap_timezone",
    });
}

/** @throws ToolError UNSUPPORTED_FEATURE, INVALID_REQUEST for what a whole buy is to have and its products do not */
export async function checkWhole(
  call: BehaviourCall,
  buy: Pick<MediaBuy, "packages">,
  request: { readonly frequency_cap?: unknown; readonly reporting_webhook?: unknown },
): Promise<void> {
  await checkSharedCap(call, buy, request.frequency_cap);
  await checkReports(call, buy, request);
}

/**
 * Reports come as often as all products of a buy have them: a shorter time would be told of without figures of its own.
 * @throws ToolError INVALID_REQUEST
 */
async function checkReports(
  call: BehaviourCall,
  buy: Pick<MediaBuy, "packages">,
  { reporting_webhook: webhook }: { readonly reporting_webhook?: unknown },
): Promise<void> {
  const frequency = (webhook as { readonly reporting_frequency?: string } | null | undefined)?.reporting_frequency;
  if (frequency === undefined) return;
  for (const { available_reporting_frequencies: sent } of await reportingOfAll(call, buy)) {
    if (!Array.isArray(sent) || sent.includes(frequency)) continue;
    throw new ToolError("INVALID_REQUEST", `a product of the buy is not reported ${frequency}: ${sent.join(", ")}`, {
      field: "reporting_webhook.reporting_frequency",
    });
  }
}
