/** Requests that a schema takes, made at random: other members each time, other alternatives, lists of several. */
import { type Bound, coversKind, flatten, kinds } from "../../generator/diff/flat.js";
import { always, mended, type Sided } from "../../generator/diff/mend.js";
import type { ShapePart } from "../../generator/diff/part.js";
import { sample } from "../../generator/diff/sample.js";
import type { Json, UnionShape } from "../../generator/model/shape.js";
import type { JsonRecord } from "../support/known.js";
import type { Choices } from "../support/random.js";

const TRIES = 8;
/** Levels after which only what is demanded is made. */
const DEEPEST = 7;
/** How many of the members that may be left out are there, of one object or another. */
const FILLED = [0, 0.15, 0.4, 0.8];
const ITEMS = [0, 1, 1, 2];
const NUMBERS = [0, 1, 2, 5, 10, 250, 1_000, 25_000, 0.5];
const FUTURE = ["2098-01-01T00:00:00Z", "2099-02-01T00:00:00Z"] as const;
const TURNS = 12;

/** A request; undefined where none that was tried is valid. */
export function requestOf(side: Sided, random: Choices): JsonRecord | undefined {
  for (let tried = 0; tried < TRIES; tried++) {
    const value = made([side.part], random);
    if (mended(value, [side], always)) return value as JsonRecord;
  }
  return undefined;
}

/** What lines of orders cost and bid, in any currency: less is refused at once. */
const ENOUGH: Readonly<Record<string, number>> = { budget: 5_000, bid_price: 12 };

/** The same request, of a time to come, of enough money, and with nothing in its channels that a seller need not offer. */
export function served(value: Json, name = ""): Json {
  if (Array.isArray(value)) return value.map((one) => served(one, name));
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value))
    return name.startsWith("start") ? FUTURE[0] : name.startsWith("end") ? FUTURE[1] : value;
  if (typeof value === "number") return ENOUGH[name] ?? value;
  if (typeof value !== "object" || value === null) return value;
  const { authentication, ...rest } = value as JsonRecord;
  const channel = typeof rest.url === "string" && name === "push_notification_config";
  const kept = channel || authentication === undefined ? rest : { ...rest, authentication };
  const own = Object.entries(kept).map(([key, one]) => [key, served(one, key)] as const);
  return { ...Object.fromEntries(own), ...(channel && { operation_id: "fuzzed" }) };
}

/** One alternative of every union. */
function oneWay(given: readonly ShapePart[], random: Choices): readonly ShapePart[] {
  const taken = new Set<UnionShape>();
  let parts = given;
  for (;;) {
    const open = flatten(parts).unions.find(({ union }) => !taken.has(union));
    if (open === undefined) return parts;
    taken.add(open.union);
    parts = [...parts, { shape: random.of(open.union.members), of: open.of }];
  }
}

function made(given: readonly ShapePart[], random: Choices, depth = 0, name = ""): Json {
  const parts = oneWay(given, random);
  const flat = flatten(parts);
  if (flat.values !== undefined && flat.values.length > 0) return random.of(flat.values);
  const allowed = kinds.filter((kind) => coversKind(flat.kinds, kind));
  const isObject = flat.properties.size > 0 && (flat.kinds === undefined || allowed.includes("object"));
  if (isObject) return objectOf(parts, random, depth);
  if (allowed.includes("array") && flat.kinds !== undefined) return listOf(parts, random, depth, name);
  const value = sample(parts, { turn: random.of([...Array(TURNS).keys()]) });
  if (typeof value === "number") return numberOf(value, flat.bounds, random);
  return value;
}

function objectOf(parts: readonly ShapePart[], random: Choices, depth: number): JsonRecord {
  const filled = depth > DEEPEST ? 0 : random.of(FILLED);
  const value: JsonRecord = {};
  for (const [name, { required, parts: member }] of flatten(parts).properties)
    if (!flatten(member).never && (required || random.chance(filled)))
      value[name] = made(member, random, depth + 1, name);
  return value;
}

function listOf(parts: readonly ShapePart[], random: Choices, depth: number, name: string): Json[] {
  const { bounds, items, tuples } = flatten(parts);
  const wanted = depth > DEEPEST ? 0 : random.of(ITEMS);
  const count = Math.min(Math.max(bounds.get("minItems") ?? 0, wanted), bounds.get("maxItems") ?? wanted + 1);
  return Array.from({ length: count }, (_, index) => {
    const placed = tuples.flatMap(({ items: own, rest }) => own[index] ?? rest);
    return made([...items, ...placed], random, depth + 1, name);
  });
}

function numberOf(given: number, bounds: ReadonlyMap<Bound, number>, random: Choices): number {
  const least = bounds.get("minimum") ?? bounds.get("exclusiveMinimum") ?? Number.NEGATIVE_INFINITY;
  const most = bounds.get("maximum") ?? bounds.get("exclusiveMaximum") ?? Number.POSITIVE_INFINITY;
  const fitting = NUMBERS.filter(
    (one) => one > least && one < most && (Number.isInteger(one) || !Number.isInteger(given)),
  );
  return fitting.length === 0 ? given : random.of(fitting);
}
