/** Breakdowns of a package that its product promises and a buyer asks for. Whoever has the figures has no rows of them. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";

/** What a product says of one: that there is some, or what it holds. */
const isPromised = (said: unknown): boolean => said === true || (isJsonObject(said) && said.supported !== false);

/**
 * A breakdown that is promised is answered: without rows, and cut off where something was delivered, so that nobody takes it
 * that no row is all there is. It is sorted as one is where the metric that was asked for is in no row.
 * @param wanted `reporting_dimensions` of the request; nothing is answered that is not in it
 * @param reporting what the package's product says of its reports
 */
export function breakdownsOf(
  call: BehaviourCall,
  { wanted = {}, reporting = {}, delivered }: { wanted?: JsonObject; reporting?: JsonObject; delivered: boolean },
): JsonObject {
  const shape = call.shapes.answer("get_media_buy_delivery");
  const answered = Object.entries(wanted).flatMap(([dimension, asked]) => {
    const rows = `by_${dimension}`;
    const has = (name: string): boolean => shape.has("media_buy_deliveries", "*", "by_package", "*", name);
    if (!isPromised(reporting[`supports_${dimension}_breakdown`]) || !has(rows)) return [];
    const { sort_by: sorted_by = "spend", sort_direction = "desc" } = isJsonObject(asked) ? asked : {};
    const about = { truncated: delivered, suppressed: false, sorted_by, sort_direction };
    const said = Object.entries(about).map(([name, value]) => [`${rows}_${name}`, value] as const);
    return [[rows, []] as const, ...said.filter(([name]) => has(name))];
  });
  return Object.fromEntries(answered);
}
