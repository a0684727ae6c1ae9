/** Caps on what an order spends in a day, and on how often it is seen: those that the seller says it keeps are taken. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { TIMEZONE } from "../accounts/accounts.js";
import type { MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { declaredObject } from "../frame/declared-object.js";
import { itemsIn } from "../frame/items-in.js";
import type { AnswerShapes } from "../frame/shape.js";
import type { AdServer } from "../ports/ad-server.js";
import { capFits } from "../products/dimension-support.js";
import { productsBought } from "../products/products.js";
import { sharedCounters, takesPart } from "../products/shared-caps.js";

interface Capped {
  readonly daily_budget_cap?: unknown;
}

/** Releases that have daily caps in orders declare them. */
const hasCaps = (shapes: AnswerShapes): boolean => shapes.request("create_media_buy").has("daily_budget_cap");

/** What a seller declares of the daily caps that its ad server keeps. */
export const cappingOf = ({ dailyCaps: scopes = [] }: AdServer, shapes: AnswerShapes): JsonObject =>
  scopes.length === 0 || !hasCaps(shapes)
    ? {}
    : {
        budget_capping: {
          ...{ supported_scopes: [...scopes], supported_periods: ["day"] },
          ...{ timezone_basis: "fixed", fixed_timezone: TIMEZONE },
        },
      };

/**
 * A daily cap that is not kept would be spent over without anybody noticing.
 * @param of what the whole order says, and its packages; of a change, what it sets
 * @throws ToolError UNSUPPORTED_FEATURE for a cap on what the seller does not declare
 */
export function checkDailyCaps(
  call: BehaviourCall,
  { whole, packages, field = "packages" }: { whole: Capped; packages: readonly Capped[]; field?: string },
): void {
  if (!hasCaps(call.shapes)) return;
  const scopes = itemsIn(declaredObject(call, "media_buy", "budget_capping")?.supported_scopes);
  const refused = (what: string, at: string): ToolError =>
    new ToolError("UNSUPPORTED_FEATURE", `what ${what} spends in a day is not capped here`, {
      field: `${at}daily_budget_cap`,
    });
  if (whole.daily_budget_cap != null && !scopes.includes("media_buy")) throw refused("a media buy", "");
  const capped = packages.findIndex(({ daily_budget_cap: cap }) => cap != null);
  if (capped >= 0 && !scopes.includes("package")) throw refused("a package", `${field}[${capped}].`);
}

/** Whose day it is that a cap holds for, where there is one. */
export function capDay(call: BehaviourCall, { terms, packages }: MediaBuy): JsonObject {
  const capped = [terms, ...packages.map((one) => one.terms)].some((one) => one.daily_budget_cap !== undefined);
  return capped
    ? { budget_cap_timezone: declaredObject(call, "media_buy", "budget_capping")?.fixed_timezone ?? TIMEZONE }
    : {};
}

/**
 * One counter over all packages is kept where the seller says that it has one, every product that it takes part in it, and
 * both within what they say of it.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
export async function checkSharedCap(
  call: BehaviourCall,
  { packages }: Pick<MediaBuy, "packages">,
  cap: unknown,
): Promise<void> {
  if (cap == null) return;
  const declared = sharedCounters(call);
  if (declared === undefined || !capFits(declared, cap))
    throw new ToolError("UNSUPPORTED_FEATURE", "no cap over all packages is kept here, or not such a one", {
      field: "frequency_cap",
    });
  const live = packages.filter(({ canceled }) => canceled !== true);
  for (const product of await productsBought(call, live)) {
    if (takesPart(product, cap)) continue;
    const message = `product ${product?.product_id} takes no part in a cap over all packages, or not in such a one`;
    throw new ToolError("UNSUPPORTED_FEATURE", message, { field: "frequency_cap" });
  }
}
