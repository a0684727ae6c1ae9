/** Keys that are being claimed: who comes again with one is asked to wait, where a release's keys stand for one payload. */
import type { AcceptOutcome } from "../store/types.js";

export interface InFlight {
  /**
   * Claims a key while `work` runs.
   * @param name sender and key
   * @param digest of the payload
   * @returns `busy` where the same payload is being claimed, `conflict` where another one under its key is
   */
  during(
    name: string,
    digest: Uint8Array,
    work: () => Promise<AcceptOutcome>,
  ): Promise<AcceptOutcome | "busy" | "conflict">;
}

export function inFlight(): InFlight {
  const running = new Map<string, Uint8Array>();
  return {
    async during(name, digest, work) {
      const other = running.get(name);
      if (other !== undefined) return Buffer.compare(other, digest) === 0 ? "busy" : "conflict";
      running.set(name, digest);
      try {
        return await work();
      } finally {
        running.delete(name);
      }
    },
  };
}
