/** Which breakdowns a product promises: what `supports_DIMENSION_breakdown` of its `reporting_capabilities` says. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";

/**
 * What is asked of a dimension that is not promised is left out of an answer.
 * @param said what the product says of the dimension: that there is some, or what it holds
 * @throws ToolError UNSUPPORTED_FEATURE for age ranges that are not reported: wider or narrower ones would be taken for them
 */
export function isPromised(dimension: string, said: unknown, asked: JsonObject): boolean {
  if (said !== true && !isJsonObject(said)) return false;
  if (dimension === "demographic" && Array.isArray(asked.age_ranges))
    checkAges(said === true ? {} : ((said.age as AgeReporting | undefined) ?? {}), asked.age_ranges as AgeRange[]);
  if (said === true) return true;
  return dimension === "geo" ? hasPlaces(said, asked) : said.supported !== false;
}

const isAny = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value === true);

/** Whether there are places of that level, and of that system of them where one is named. */
function hasPlaces(said: JsonObject, { geo_level: level, system, country }: JsonObject): boolean {
  const held = said[`${level}`];
  if (!isJsonObject(held)) return isAny(held);
  const parts = Object.entries(held);
  if (typeof country === "string") {
    const systems = held[country];
    return system === undefined ? isAny(systems) : Array.isArray(systems) && systems.includes(system);
  }
  if (system === undefined) return parts.some(([, value]) => isAny(value));
  // Older requests name the country within the system, as `us_zip`.
  const named = parts.flatMap(([of, systems]) => (Array.isArray(systems) ? systems : []).map((one) => `${of}_${one}`));
  return held[`${system}`] === true || named.some((one) => one.toLowerCase() === system);
}

interface AgeRange {
  readonly min?: number;
  readonly max?: number;
  readonly include_unknown?: boolean;
}

interface AgeReporting {
  readonly reporting_modes?: readonly string[];
  readonly intervals?: readonly { readonly age: AgeRange }[];
  readonly min_reportable_age?: number;
  readonly max_reportable_age?: number;
  readonly supports_unbounded_min?: boolean;
  readonly supports_unbounded_max?: boolean;
}

function checkAges(said: AgeReporting, ranges: readonly AgeRange[]): void {
  const { reporting_modes: modes = [], min_reportable_age: least = 0, max_reportable_age: most = Infinity } = said;
  const isWithin = (bound: number): boolean => bound >= least && bound <= most;
  for (const { min, max, include_unknown } of ranges) {
    const isListed = said.intervals?.some(
      ({ age }) => age.min === min && age.max === max && age.include_unknown === include_unknown,
    );
    const isExact =
      (min === undefined ? said.supports_unbounded_min === true : isWithin(min)) &&
      (max === undefined ? said.supports_unbounded_max === true : isWithin(max)) &&
      (min ?? 0) <= (max ?? Infinity);
    if (modes.includes("enumerated_intervals") && isListed) continue;
    if (modes.includes("exact_predicates") && isExact) continue;
    throw new ToolError(
      "UNSUPPORTED_FEATURE",
      `ages from ${min ?? "any"} to ${max ?? "any"} are not reported as such`,
      {
        field: "reporting_dimensions.demographic.age_ranges",
      },
    );
  }
}
