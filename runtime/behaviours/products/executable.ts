/** Filters that ask what can be done with a product: by what it declares, and where it is silent, by what its seller does. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import { postalSystem } from "./coverage.js";
import { supportsAll, termsOf } from "./overlay.js";
import { isNearby, type ProximityFilters } from "./proximity.js";

export interface ExecutionFilters extends ProximityFilters {
  readonly required_features?: JsonObject;
  readonly required_axe_integrations?: readonly string[];
  readonly required_geo_targeting?: readonly GeoTargeting[];
  readonly keywords?: readonly { readonly match_type?: string }[];
  readonly audience_activation_methods?: readonly ActivationMethod[];
}

interface GeoTargeting {
  readonly level: string;
  readonly country?: string;
  readonly system?: string;
}

interface ActivationMethod extends JsonObject {
  readonly pattern: string;
  readonly directions?: readonly string[];
}

const member = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce((found, name) => (isJsonObject(found) ? found[name] : undefined), value);

const dimensions: Readonly<Record<string, string>> = {
  country: "geo_countries",
  region: "geo_regions",
  metro: "geo_metros",
  postal_area: "geo_postal_areas",
};

/** Systems that a declaration names: as a list, as switches, or by country; products and sellers have them in several ways. */
const systemsIn = (declared: JsonObject): string[] =>
  Object.entries(declared).flatMap(([name, one]) => {
    if (one === true) return [name, postalSystem({ system: name })];
    if (!Array.isArray(one)) return [];
    return name === "systems" ? one.map(String) : one.map((system) => postalSystem({ country: name, system }));
  });

function targetsBy(declared: unknown, { level, country, system }: GeoTargeting): boolean {
  if (declared === true) return true;
  if (!isJsonObject(declared)) return false;
  if (level === "country" || level === "region") return true;
  const systems = systemsIn(declared);
  if (system === undefined) return systems.length > 0;
  return systems.includes(
    level === "metro" ? system : postalSystem({ system, ...(country !== undefined && { country }) }),
  );
}

const targetsWords = (declared: unknown, words: NonNullable<ExecutionFilters["keywords"]>): boolean =>
  declared === true ||
  (isJsonObject(declared) &&
    words.every(({ match_type = "broad" }) => itemsIn(declared.supported_match_types).includes(match_type)));

function isActivated(method: ActivationMethod, wanted: ActivationMethod): boolean {
  const { directions, ...exact } = wanted;
  const meets = (has: unknown, one: unknown): boolean =>
    isJsonObject(one) ? Object.entries(one).every(([name, value]) => meets(member(has, name), value)) : has === one;
  const ways = method.directions;
  return (
    meets(method, exact) &&
    (directions === undefined ||
      (method.pattern === "file_transfer" && (ways === undefined || directions.some((one) => ways.includes(one)))))
  );
}

/** How audiences come to a product is an experiment: sellers that do not take part in it do not look at this. */
function isActivatable(call: BehaviourCall, { more = {} }: Product, wanted: readonly ActivationMethod[]): boolean {
  if (!itemsIn(call.declared.experimental_features).includes("media_buy.audience_activation")) return true;
  const methods = itemsIn<ActivationMethod>(member(more.audience_activation, "methods"));
  return methods.some((method) => wanted.some((one) => isActivated(method, one)));
}

/** Whether the seller does with a product what the filters ask for. */
export function isExecutable(call: BehaviourCall, one: Product, filters: ExecutionFilters): boolean {
  const { media_buy: declared } = call.declared;
  const targeting = termsOf(one).overlay_support ?? member(declared, "execution", "targeting");
  const { required_features: features = {}, keywords: words = [], audience_activation_methods: methods } = filters;
  const exchanges = itemsIn(member(declared, "execution", "axe_integrations"));
  return (
    Object.entries(features).every(([name, wanted]) => supportsAll(member(declared, "features", name), wanted)) &&
    (filters.required_axe_integrations ?? []).every((url) => exchanges.includes(url)) &&
    (filters.required_geo_targeting ?? []).every((wanted) =>
      targetsBy(member(targeting, dimensions[wanted.level] ?? wanted.level), wanted),
    ) &&
    isNearby(call, one, filters, member(targeting, "geo_proximity")) &&
    (words.length === 0 || targetsWords(member(targeting, "keyword_targets"), words)) &&
    (methods === undefined || isActivatable(call, one, methods))
  );
}
