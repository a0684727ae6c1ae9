/** Whether what is declared of one dimension of targeting covers a value that a buyer gives for it. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { itemsIn } from "../frame/items-in.js";
import { countryOfRegion } from "../frame/regions.js";
import { postalSystem } from "./coverage.js";

type Covers = (support: JsonObject, value: unknown) => boolean;

const every =
  (one: (support: JsonObject, item: JsonObject) => boolean): Covers =>
  (support, value) =>
    itemsIn<JsonObject>(value).every((item) => one(support, item));

const listed = (list: unknown, one: unknown): boolean => itemsIn(list).includes(one);

/** Bounds, or the only values that there are; where neither is said, any will do. */
const isWithin = (one: unknown, least: unknown, most: unknown, only: unknown): boolean =>
  typeof one === "number" &&
  (typeof least !== "number" || one >= least) &&
  (typeof most !== "number" || one <= most) &&
  (!Array.isArray(only) || only.includes(one));

/** A time is one that there is a rule for, in the unit that the rule is in. */
function lasts(rules: unknown, time: unknown): boolean {
  if (!Array.isArray(rules)) return true;
  const { unit, interval } = (time ?? {}) as JsonObject;
  return itemsIn<JsonObject>(rules).some(
    ({ unit: own, minimum_interval: least, maximum_interval: most, allowed_intervals: only }) =>
      own === unit && isWithin(interval, least, most, only),
  );
}

/** Is a cap on how often somebody is shown something one of those that are kept? */
export function capFits(support: JsonObject, cap: unknown): boolean {
  const { max_impressions: most, per, window, suppress, suppress_minutes: minutes } = (cap ?? {}) as JsonObject;
  const pause = suppress ?? (minutes === undefined ? undefined : { interval: minutes, unit: "minutes" });
  const { supported_control_modes: modes, supported_per_units: units } = support;
  const { minimum, maximum, allowed_values: only } = (support.max_impressions_constraints ?? {}) as JsonObject;
  const mode = [most !== undefined && "max_impressions", pause !== undefined && "suppress"].filter(Boolean);
  return (
    (!Array.isArray(modes) || modes.includes(mode.join("_and_"))) &&
    (pause === undefined || lasts(support.suppression_constraints, pause)) &&
    (most === undefined ||
      ((!Array.isArray(units) || units.includes(per)) &&
        isWithin(most, minimum, maximum, only) &&
        lasts(support.window_constraints, window)))
  );
}

function hasPlace({ systems }: JsonObject, { system, country, place_type: type, system_version: version }: JsonObject) {
  const catalogue = isJsonObject(systems) ? systems[String(system)] : undefined;
  if (!isJsonObject(catalogue) || !isJsonObject(catalogue.countries)) return false;
  const kinds = itemsIn<string | JsonObject>(catalogue.countries[String(country)]);
  return (
    kinds.some((one) => isDeepStrictEqual(one, type)) &&
    (version === undefined || listed(catalogue.system_versions, version))
  );
}

function hasRegions({ countries }: JsonObject, value: unknown): boolean {
  return itemsIn<string>(value).every((region) => {
    const own = isJsonObject(countries) ? countries[countryOfRegion(region)] : undefined;
    return isJsonObject(own) && (own.all_values === true || listed(own.values, region));
  });
}

/** The country's own systems stand under it; older names are switches. */
function hasPostal(support: JsonObject, { country, system }: JsonObject): boolean {
  const wanted = postalSystem({ system: String(system), ...(typeof country === "string" && { country }) });
  return Object.entries(support).some(([name, own]) =>
    own === true
      ? postalSystem({ system: name }) === wanted
      : itemsIn<string>(own).some((one) => postalSystem({ country: name, system: one }) === wanted),
  );
}

function measures(support: JsonObject, { radius, travel_time: time, geometry, transport_mode: mode }: JsonObject) {
  return (
    (radius === undefined || support.radius === true) &&
    (time === undefined || support.travel_time === true) &&
    (geometry === undefined || support.geometry === true) &&
    (mode === undefined || !Array.isArray(support.transport_modes) || support.transport_modes.includes(mode))
  );
}

/** A window without a clock of its own goes by the inventory's. */
function hasClock(
  { timezone_modes: modes, iana_timezones: zones }: JsonObject,
  { timezone = "inventory_local" }: JsonObject,
) {
  const mode = timezone === "inventory_local" ? timezone : "iana";
  return listed(modes, mode) && (mode !== "iana" || zones === true || listed(zones, timezone));
}

const families: Covers = (support, value) => itemsIn(value).every((one) => listed(support.families, one));
const words = every(({ supported_match_types: types }, { match_type: type = "broad" }) => listed(types, type));
const metros = every(({ systems }, { system }) => listed(systems, system));

/** Dimensions whose support may say of which values; of all others it says that there is some. */
const dimensions: Readonly<Record<string, Covers>> = {
  ...{ geo_regions: hasRegions, geo_regions_exclude: hasRegions },
  ...{ geo_metros: metros, geo_metros_exclude: metros },
  ...{ geo_places: every(hasPlace), geo_places_exclude: every(hasPlace) },
  ...{ geo_postal_areas: every(hasPostal), geo_postal_areas_exclude: every(hasPostal) },
  geo_proximity: every(measures),
  daypart_targets: every(hasClock),
  ...{ browser: families, browser_exclude: families },
  ...{ keyword_targets: words, negative_keywords: words },
  frequency_cap: capFits,
  demographics: (support, value) =>
    !isJsonObject(value) || Object.keys(value).every((name) => name === "ext" || support[name] === true),
};

/** True is support without limits, but of clocks: it is older than the choice of one. */
export function coversValue(name: string, support: unknown, value: unknown): boolean {
  if (name === "daypart_targets" && support === true)
    return every(hasClock)({ timezone_modes: ["inventory_local"] }, value);
  if (!isJsonObject(support)) return support === true;
  return dimensions[name]?.(support, value) ?? true;
}
