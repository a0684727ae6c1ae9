/** What an agent has told of, by the names it told it under: a request that names nothing real is refused at the door. */
import type { Json } from "../../generator/model/shape.js";

export type JsonRecord = { [key: string]: Json };

const isRecord = (value: Json | undefined): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names under which ids, and what goes with them, are told and asked for. */
const isReference = (name: string): boolean => /(_id|_ids|^id|_ref|_key|cursor|domain|agent_url|version)$/.test(name);

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

  /** Told under a name, oldest first. */
  of(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /**
   * The same request, asking for what there is.
   * @param choose of what was told under a name; undefined leaves the text as it is
   */
  referring(value: Json, choose: (known: readonly string[]) => string | undefined, name = ""): Json {
    if (Array.isArray(value)) return value.map((one) => this.referring(one, choose, name.replace(/s$/, "")));
    if (isRecord(value)) {
      const inner = Object.entries(value).map(([key, one]) => [key, this.referring(one, choose, key)] as const);
      return Object.fromEntries(inner);
    }
    if (typeof value !== "string" || name === "idempotency_key") return value;
    const known = this.of(name);
    return (known.length === 0 ? undefined : choose(known)) ?? value;
  }
}
