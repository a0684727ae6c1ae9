/** The end of a request that takes too long, or that its caller gives up. Lighter than an AbortSignal, which it can make. */
import { NetFault } from "./codes.js";

export class Deadline {
  /** Why it ended; undefined while it has not. */
  fault: NetFault | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #endsAt: number;
  /** One or two. */
  #listeners: ((fault: NetFault) => void)[] = [];
  readonly #outer: AbortSignal | undefined;
  readonly #give = (): void => this.#end(new NetFault("aborted", "by the caller"));
  #controller: AbortController | undefined;

  constructor(totalMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#end(new NetFault("total_timeout", `after ${totalMs} ms`)), totalMs);
    this.#endsAt = performance.now() + totalMs;
    this.#outer = outer;
    if (outer?.aborted) this.#give();
    else outer?.addEventListener("abort", this.#give, { once: true });
  }

  /** Milliseconds until it ends. */
  get leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** For what wants one; its reason is the fault. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.fault !== undefined) this.#controller.abort(this.fault);
    return this.#controller.signal;
  }

  /** Calls `listener` when it ends. @returns stops it */
  onEnd(listener: (fault: NetFault) => void): () => void {
    if (this.fault !== undefined) listener(this.fault);
    else this.#listeners.push(listener);
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#give);
    this.#listeners = [];
  }

  #end(fault: NetFault): void {
    this.fault ??= fault;
    this.#controller?.abort(this.fault);
    for (const listener of this.#listeners) listener(this.fault);
  }
}
