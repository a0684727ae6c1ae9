/** Endpoints that jobs were added for, and how instances tell each other. */

/** Most that other instances are told by name, and most that one remembers; more are looked for. */
const NAMED = 16;
const REMEMBERED = 1_024;

/** Endpoints that jobs were added for: all of them, or it is not known which. */
export class NamedEndpoints {
  readonly #names = new Set<string>();
  #known = true;

  /** @param endpoints none where it is not known which @returns whether all of them are remembered */
  add(endpoints: readonly string[]): boolean {
    let all = endpoints.length > 0;
    for (const endpoint of endpoints) {
      if (this.#names.size < REMEMBERED) this.#names.add(endpoint);
      else all &&= this.#names.has(endpoint);
    }
    this.#known &&= all;
    return all;
  }

  get any(): boolean {
    return this.#names.size > 0;
  }

  /** In the order in which they were told of; none where it is not known which. */
  get names(): readonly string[] {
    return this.#known ? [...this.#names] : [];
  }

  /** Forgets some of those that it knows. @returns them: of each principal in turn, those that were told of first */
  next(most: number, principalOf: (endpoint: string) => string): string[] {
    const lines = Map.groupBy(this.#names, principalOf);
    const some: string[] = [];
    for (let n = 0; some.length < Math.min(most, this.#names.size); n++)
      for (const line of lines.values()) if (n < line.length && some.length < most) some.push(line[n]!);
    for (const endpoint of some) this.#names.delete(endpoint);
    return some;
  }

  clear(): void {
    this.#names.clear();
    this.#known = true;
  }
}

/** Half of what the server takes, in bytes. */
const PAYLOAD_BYTES = 4_000;

/** What instances are told: a topic, and endpoints as far as there is room, in lines. */
export function wakePayload(topic: string, endpoints: readonly string[]): string {
  const named = [topic, ...(endpoints.length > NAMED ? [] : endpoints)].join("\n");
  return Buffer.byteLength(named) < PAYLOAD_BYTES ? named : topic;
}

/** @param payload none where some may have been missed */
export function wokenBy(payload: string | undefined): { readonly topic?: string; readonly endpoints: string[] } {
  const [topic, ...endpoints] = payload?.split("\n") ?? [];
  return { ...(topic !== undefined && { topic }), endpoints };
}
