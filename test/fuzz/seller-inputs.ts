/** Requests with one fault. */
import type { Json } from "../../generator/model/shape.js";
import type { JsonRecord } from "../support/known.js";
import type { Choices } from "../support/random.js";

/** A place of a value: what holds it, and under which name. */
interface Place {
  readonly holder: JsonRecord | Json[];
  readonly key: string | number;
}

function placesOf(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    found.push({ holder: value, key });
    placesOf((value as JsonRecord)[key] as Json, found);
  }
  return found;
}

const TEXTS = [
  "",
  " ",
  "x".repeat(20_000),
  "\u0000",
  "\ud800",
  "__proto__",
  "null",
  "../../etc/passwd",
  "' or 1=1 --",
  "2026-13-45T99:99:99Z",
];
const NUMBERS = [-1, 0, 0.1, 1e308, -1e308, Number.MAX_SAFE_INTEGER + 2, 2 ** 31, 1e-7];
const KINDS: readonly Json[] = [null, true, 7, "text", [], {}, [[]], { a: { b: [] } }];

type Fault = (place: Place, value: Json, random: Choices) => void;

const put = ({ holder, key }: Place, value: Json): void => {
  (holder as JsonRecord)[key] = value;
};

const faults: Readonly<Record<string, Fault>> = {
  missing: ({ holder, key }) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  kind: (place, _value, random) => put(place, random.of(KINDS)),
  text: (place, _value, random) => put(place, random.of(TEXTS)),
  number: (place, _value, random) => put(place, random.of(NUMBERS)),
  longer: (place, value) =>
    put(
      place,
      typeof value === "string" ? `${value}-and-more` : Array.from({ length: 150 }, () => structuredClone(value)),
    ),
  twice: ({ holder, key }) => {
    if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]!));
    else holder[`${key}_2`] = structuredClone(holder[key]!);
  },
  deeper: (place) => {
    let deep: Json = 1;
    for (let level = 0; level < 40; level++) deep = { deep };
    put(place, deep);
  },
  prototype: ({ holder }) => {
    Object.defineProperty(holder, "__proto__", { value: { polluted: true }, enumerable: true, configurable: true });
  },
};

/** @returns the request with one fault, and its name */
export function faulty(request: JsonRecord, random: Choices): { readonly request: JsonRecord; readonly fault: string } {
  const copy = structuredClone(request);
  const places = placesOf(copy);
  const fault = random.of(Object.keys(faults));
  if (places.length > 0) {
    const place = random.of(places);
    faults[fault]!(place, (place.holder as JsonRecord)[place.key] as Json, random);
  }
  return { request: copy, fault };
}
