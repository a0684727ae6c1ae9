import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { storeCreatives } from "../creatives/sync.js";
import { product } from "../products/products.js";
import { shownAfterChange } from "./create.js";
import {
  buyOf,
  type Change,
  endOf,
  type MediaBuy,
  type Package,
  saveBuy,
  shownPackage,
  startOf,
  stateOf,
  terminal,
} from "./media-buy.js";
import { assignments, checkDates, checkPrice, givenBudget, keptTerms, newPackage, pricingOption } from "./packages.js";

type Wanted = Request<"update_media_buy">;
type PackageUpdate = NonNullable<Wanted["packages"]>[number];

/**
 * `update_media_buy`: all of the change or nothing.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, PACKAGE_NOT_FOUND, NOT_CANCELLABLE, INVALID_STATE, CONFLICT
 */
export function updateBuy(call: Call, request: Wanted): JsonObject {
  const buy = buyOf(call, request.media_buy_id);
  const state = stateOf(call, buy);
  if (terminal.has(state))
    throw request.canceled === true
      ? new ToolError("NOT_CANCELLABLE", `media buy ${buy.media_buy_id} is ${state}`, { field: "canceled" })
      : new ToolError("INVALID_STATE", `media buy ${buy.media_buy_id} is ${state} and changes no more`, {
          field: "media_buy_id",
          details: { current_state: state },
        });
  if (request.revision !== undefined && request.revision !== buy.revision)
    throw new ToolError("CONFLICT", `media buy ${buy.media_buy_id} is at revision ${buy.revision}`, {
      field: "revision",
    });
  const { changed, affected, done } = changes(call, buy, request);
  const revision = buy.revision + 1;
  const timestamp = call.now.toISOString();
  const history: Change[] = done.map((one) => ({ revision, timestamp, ...one }));
  const saved: MediaBuy = { ...changed, revision, updated_at: timestamp, history: [...buy.history, ...history] };
  saveBuy(call, saved);
  const shown = saved.packages.filter(({ package_id }) => affected.has(package_id)).map(shownPackage);
  return shownAfterChange(call, saved, { affected_packages: shown, implementation_date: timestamp });
}

interface Outcome {
  readonly changed: MediaBuy;
  readonly affected: ReadonlySet<string>;
  readonly done: readonly Pick<Change, "action" | "summary" | "package_id">[];
}

function changes(call: Call, buy: MediaBuy, request: Wanted): Outcome {
  if (request.canceled === true) return canceled(call, buy, request.cancellation_reason);
  const done: Outcome["done"][number][] = [];
  const affected = new Set<string>();
  const start = request.start_time === "asap" ? call.now.toISOString() : request.start_time;
  const end = request.end_time;
  let packages = buy.packages.map((one): Package => {
    const index = (request.packages ?? []).findIndex(({ package_id }) => package_id === one.package_id);
    const moved = {
      ...one,
      ...(start !== undefined && { start_time: start }),
      ...(end !== undefined && { end_time: end }),
    };
    if (index < 0) return moved;
    affected.add(one.package_id);
    const wanted = request.packages![index]!;
    done.push({
      action: wanted.canceled === true ? "package_canceled" : "package_updated",
      package_id: one.package_id,
    });
    return updatedPackage(call, buy, moved, wanted, `packages[${index}]`);
  });
  const unknown = (request.packages ?? []).findIndex(({ package_id }) => !affected.has(package_id));
  if (unknown >= 0)
    throw new ToolError("PACKAGE_NOT_FOUND", `no package ${request.packages![unknown]!.package_id} in this media buy`, {
      field: `packages[${unknown}].package_id`,
    });
  for (const [index, wanted] of (request.new_packages ?? []).entries()) {
    const flight = { start: start ?? startOf(buy), end: end ?? endOf(buy) };
    const added = newPackage(call, wanted, flight, `new_packages[${index}]`);
    packages = [...packages, added];
    affected.add(added.package_id);
    done.push({ action: "package_added", package_id: added.package_id });
  }
  if (start !== undefined || end !== undefined) {
    for (const { start_time, end_time } of packages) checkDates(start_time, end_time, "");
    done.push({ action: "dates_changed" });
  }
  if (request.paused !== undefined) done.push({ action: request.paused ? "paused" : "resumed" });
  const { fixed: _, ...open } = buy;
  const changed: MediaBuy = {
    ...open,
    packages,
    paused: request.paused ?? buy.paused,
    terms: {
      ...buy.terms,
      ...(request.reporting_webhook !== undefined && { reporting_webhook: request.reporting_webhook }),
      ...(request.invoice_recipient !== undefined && { invoice_recipient: request.invoice_recipient }),
    },
  };
  return { changed, affected, done: done.length > 0 ? done : [{ action: "updated" }] };
}

function canceled(call: Call, buy: MediaBuy, reason: string | undefined): Outcome {
  const cancellation = {
    canceled_at: call.now.toISOString(),
    canceled_by: "buyer" as const,
    ...(reason !== undefined && { reason }),
  };
  // Creatives stay in the library; only their assignment to this buy ends.
  const packages = buy.packages.map((one) => ({ ...one, creative_assignments: [] }));
  return {
    changed: { ...buy, packages, fixed: "canceled", cancellation },
    affected: new Set(packages.map(({ package_id }) => package_id)),
    done: [{ action: "canceled", ...(reason !== undefined && { summary: reason }) }],
  };
}

function updatedPackage(call: Call, buy: MediaBuy, one: Package, wanted: PackageUpdate, field: string): Package {
  if (one.canceled === true)
    throw wanted.canceled === true
      ? new ToolError("NOT_CANCELLABLE", `package ${one.package_id} is canceled`, { field })
      : new ToolError("INVALID_STATE", `package ${one.package_id} is canceled`, { field });
  if (wanted.canceled === true) {
    const reason = wanted.cancellation_reason;
    const cancellation = {
      canceled_at: call.now.toISOString(),
      canceled_by: "buyer" as const,
      ...(reason !== undefined && { reason }),
    };
    return { ...one, canceled: true, cancellation, creative_assignments: [] };
  }
  const option = pricingOption(product(call, one.product_id, field), one.pricing_option_id, field);
  checkPrice(option, wanted, field);
  const { budget, bid_price, paused, start_time, end_time, creatives } = wanted;
  checkDates(start_time ?? one.start_time, end_time ?? one.end_time, field);
  if (creatives !== undefined) storeCreatives(call, buy.account_id, creatives as never);
  const assigns = wanted.creative_assignments !== undefined || creatives !== undefined;
  return {
    ...one,
    ...(budget !== undefined && { budget: givenBudget(budget, field) }),
    ...(bid_price !== undefined && one.bid_price !== undefined && { bid_price }),
    ...(paused !== undefined && { paused }),
    ...(start_time !== undefined && { start_time }),
    ...(end_time !== undefined && { end_time }),
    ...(assigns && { creative_assignments: assignments(wanted.creative_assignments, creatives) }),
    terms: { ...one.terms, ...keptTerms({ ...wanted }) },
  };
}
