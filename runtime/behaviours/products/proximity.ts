/** Whether a product's inventory is near where a buyer looks: within a distance of a point, or within an area. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Coverage, Product } from "../ports/catalogue.js";
import { coversValue } from "./dimension-support.js";

export interface ProximityFilters {
  readonly geo_proximity?: readonly Vicinity[];
}

type Place = NonNullable<Coverage["points"]>[number];

/** Longitude and latitude, as GeoJSON has them. */
type Corner = readonly [number, number, ...number[]];
type Ring = readonly Corner[];

/** One way each: so far from a point, so long from it, or an area. */
interface Vicinity extends Partial<Place> {
  readonly radius?: { readonly value: number; readonly unit: string };
  readonly travel_time?: unknown;
  readonly geometry?: { readonly type: string; readonly coordinates: unknown };
}

const METRES: Readonly<Record<string, number>> = { m: 1, km: 1_000, mi: 1_609.344 };
const EARTH_METRES = 6_371_000;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Along the surface, in metres. */
function metresBetween(one: Place, other: Place): number {
  const [a, b] = [radians(one.lat), radians(other.lat)];
  const half = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(other.lng - one.lng) / 2) ** 2;
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(half)));
}

/** A line from the point to the east crosses the ring an odd number of times. */
function isInRing({ lat, lng }: Place, ring: Ring): boolean {
  let inside = false;
  for (const [index, [x, y]] of ring.entries()) {
    const [fromX, fromY] = ring.at(index - 1)!;
    if (y > lat !== fromY > lat && lng < ((fromX - x) * (lat - y)) / (fromY - y) + x) inside = !inside;
  }
  return inside;
}

/** Rings after the first are holes. */
const isInPolygon = (place: Place, [outer, ...holes]: readonly Ring[]): boolean =>
  outer !== undefined && isInRing(place, outer) && !holes.some((hole) => isInRing(place, hole));

const isRing = (value: unknown): value is Ring =>
  Array.isArray(value) &&
  value.every((one) => Array.isArray(one) && typeof one[0] === "number" && typeof one[1] === "number");

const isPolygon = (value: unknown): value is readonly Ring[] => Array.isArray(value) && value.every(isRing);

/** @throws ToolError INVALID_REQUEST for what is not made of rings of positions: schemas let it pass */
function polygonsOf({ type, coordinates }: NonNullable<Vicinity["geometry"]>, at: number): (readonly Ring[])[] {
  const polygons: unknown = type === "Polygon" ? [coordinates] : coordinates;
  if (Array.isArray(polygons) && polygons.every(isPolygon)) return polygons;
  throw new ToolError("INVALID_REQUEST", `that is no ${type}`, {
    field: `filters.geo_proximity[${at}].geometry.coordinates`,
  });
}

/** @throws ToolError UNSUPPORTED_FEATURE for a time: how far one gets in it, nobody here knows */
function isNear(points: readonly Place[], wanted: Vicinity, at: number): boolean {
  const { lat = 0, lng = 0, radius, geometry } = wanted;
  if (radius !== undefined) {
    const metres = radius.value * (METRES[radius.unit] ?? 0);
    return points.some((one) => metresBetween(one, { lat, lng }) <= metres);
  }
  if (geometry === undefined)
    throw new ToolError("UNSUPPORTED_FEATURE", "travel times are not reckoned here: give a radius or a geometry", {
      field: `filters.geo_proximity[${at}].travel_time`,
    });
  const polygons = polygonsOf(geometry, at);
  return points.some((one) => polygons.some((polygon) => isInPolygon(one, polygon)));
}

/** Releases that have a filter of coverage alone do not ask whether deliveries can be held to the place. */
const asksCoverageAlone = ({ shapes }: BehaviourCall): boolean =>
  shapes.request("list_products").has("criteria", "offer_filters", "geo_proximity");

/**
 * One of the places is enough. Inventory that stands somewhere is near or it is not; all else is everywhere, and has to be
 * deliverable to the place.
 * @param support what is declared of targeting by proximity
 */
export function isNearby(
  call: BehaviourCall,
  { coverage }: Product,
  { geo_proximity: wanted }: ProximityFilters,
  support: unknown,
): boolean {
  if (wanted === undefined) return true;
  if (coverage?.points !== undefined) return wanted.some((one, at) => isNear(coverage.points!, one, at));
  if (coverage !== undefined || asksCoverageAlone(call)) return true;
  return wanted.some((one) => coversValue("geo_proximity", support, [one]));
}
