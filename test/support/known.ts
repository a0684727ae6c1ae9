/** What an agent has told of, by the names it told it under: a request that names nothing real is refused at the door. */
import type { Json } from "../../generator/model/shape.js";

export type JsonRecord = { [key: string]: Json };

const isRecord = (value: Json | undefined): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names under which ids, and what goes with them, are told and asked for. */
const isReference = (name: string): boolean => /(_id|_ids|^id|_ref|_key|cursor|domain|agent_url|version)$/.test(name);

/** What was told of one thing, its own names and those of what it is part of: a price and its product. */
type Named = Readonly<Record<string, string>>;

const referencesIn = (value: JsonRecord): Named =>
  Object.fromEntries(
    Object.entries(value).filter((one): one is [string, string] => typeof one[1] === "string" && isReference(one[0])),
  );

export interface Choosing {
  /** Of what was told under a name; undefined leaves the text as it is. */
  readonly text: (known: readonly string[]) => string | undefined;
  /** Of things that have all the names of an object, so that they are asked for together; by default each name by itself. */
  readonly thing?: ((known: readonly Named[]) => Named | undefined) | undefined;
}

export class Known {
  static readonly MOST = 40;
  static readonly MOST_THINGS = 400;
  readonly #values = new Map<string, string[]>();
  readonly #things = new Map<string, Named>();

  note(value: Json | undefined, above: Named = {}): void {
    if (Array.isArray(value)) for (const one of value) this.note(one, above);
    if (!isRecord(value)) return;
    const own = referencesIn(value);
    for (const [name, text] of Object.entries(own)) this.#add(name, text);
    const thing = { ...above, ...own };
    if (Object.keys(own).length > 0 && Object.keys(thing).length > 1) this.#addThing(thing);
    for (const inner of Object.values(value)) if (typeof inner === "object") this.note(inner, thing);
  }

  #add(name: string, value: string): void {
    const known = this.#values.get(name) ?? [];
    this.#values.set(name, known);
    if (known.includes(value)) return;
    known.push(value);
    if (known.length > Known.MOST) known.shift();
  }

  #addThing(thing: Named): void {
    this.#things.set(JSON.stringify(thing), thing);
    for (const oldest of this.#things.keys()) {
      if (this.#things.size <= Known.MOST_THINGS) return;
      this.#things.delete(oldest);
    }
  }

  /** Told under a name, oldest first. */
  of(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** The same request, asking for what there is. */
  referring(value: Json, { text, thing }: Choosing, name = ""): Json {
    if (Array.isArray(value)) return value.map((one) => this.referring(one, { text, thing }, name.replace(/s$/, "")));
    if (isRecord(value)) {
      const names = thing === undefined ? [] : Object.keys(referencesIn(value));
      const all = names.length < 2 ? [] : [...this.#things.values()];
      const fitting = all.filter((one) => names.every((each) => Object.hasOwn(one, each)));
      const taken = fitting.length === 0 ? undefined : thing?.(fitting);
      const inner = Object.entries(value).map(
        ([key, one]) => [key, taken?.[key] ?? this.referring(one, { text, thing }, key)] as const,
      );
      return Object.fromEntries(inner);
    }
    if (typeof value !== "string" || name === "idempotency_key") return value;
    const known = this.of(name);
    return (known.length === 0 ? undefined : text(known)) ?? value;
  }
}
