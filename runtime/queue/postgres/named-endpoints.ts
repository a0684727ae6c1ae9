/** Endpoints that jobs were added for, and how instances tell each other. */

/** Most that others are told by name; more are looked for. */
const NAMED = 16;

/** Endpoints that jobs were added for: all of them, or it is not known which. */
export class NamedEndpoints {
  readonly #names = new Set<string>();
  #known = true;

  /** @param most that are kept by name */
  constructor(readonly most = NAMED) {}

  /** @param endpoints none where it is not known which */
  add(endpoints: readonly string[]): void {
    if (endpoints.length === 0) this.#known = false;
    for (const endpoint of endpoints) {
      if (this.#names.size < this.most) this.#names.add(endpoint);
      else if (!this.#names.has(endpoint)) this.#known = false;
    }
  }

  /** Whether those that are kept are all. */
  get known(): boolean {
    return this.#known;
  }

  get any(): boolean {
    return this.#names.size > 0;
  }

  /** Those that are kept, in the order in which they were told of. */
  get some(): readonly string[] {
    return [...this.#names];
  }

  /** None where it is not known which. */
  get names(): readonly string[] {
    return this.#known ? this.some : [];
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
  const named = [topic, ...endpoints].join("\n");
  return Buffer.byteLength(named) < PAYLOAD_BYTES ? named : topic;
}

/** @param payload none where some may have been missed */
export function wokenBy(payload: string | undefined): { readonly topic?: string; readonly endpoints: string[] } {
  const [topic, ...endpoints] = payload?.split("\n") ?? [];
  return { ...(topic !== undefined && { topic }), endpoints };
}
