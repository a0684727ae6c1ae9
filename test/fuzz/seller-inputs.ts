/** Requests for a seller: valid by construction, with references to what it has told of, then with one fault. */
import type { Json } from "../../generator/model/shape.js";
import type { Choices } from "../support/random.js";

export type JsonRecord = { [key: string]: Json };

const isRecord = (value: Json | undefined): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names under which ids, and what goes with them, are told and asked for. */
const isReference = (name: string): boolean => /(_id|_ids|^id|_ref|_key|cursor|domain|agent_url|version)$/.test(name);

/** What a seller has told, by the names it told it under: requests that name nothing real are refused at the door. */
export class Known {
  static readonly MOST = 40;
  readonly #values = new Map<string, string[]>();

  note(value: Json | undefined): void {
    if (Array.isArray(value)) for (const one of value) this.note(one);
    if (!isRecord(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === "string" && isReference(name)) this.#add(name, inner);
      else this.note(inner);
    }
  }

  #add(name: string, value: string): void {
    const known = this.#values.get(name) ?? [];
    this.#values.set(name, known);
    if (known.includes(value)) return;
    known.push(value);
    if (known.length > Known.MOST) known.shift();
  }

  /** The same request, asking for what there is. */
  referring(value: Json, random: Choices, name = ""): Json {
    if (Array.isArray(value)) return value.map((one) => this.referring(one, random, name.replace(/s$/, "")));
    if (isRecord(value)) {
      const inner = Object.entries(value).map(([key, one]) => [key, this.referring(one, random, key)] as const);
      return Object.fromEntries(inner);
    }
    if (typeof value !== "string" || name === "idempotency_key") return value;
    const known = this.#values.get(name);
    return known === undefined || random.chance(0.25) ? value : random.of(known);
  }
}

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
