/** A client in a process of its own: the bench's is stopped for tens of milliseconds when its memory is collected. */
import path from "node:path";
import { fromSource } from "../../test/runner/from-source.js";
import { Child } from "./child.js";
import { type Latencies, latencies } from "./open-loop.js";

export interface Request {
  readonly path: string;
  /** Posted as JSON, where there is one. */
  readonly body?: object;
}

export interface Load {
  /** Requests a second. */
  readonly rate: number;
  readonly count: number;
  /** Made in turn, and again from the first one. */
  readonly requests: readonly Request[];
}

export interface Client {
  measure(load: Load): Promise<Latencies>;
  close(): Promise<void>;
}

export function startClient(origin: string, headers: Readonly<Record<string, string>> = {}): Client {
  const program = path.join(import.meta.dirname, "client-child.ts");
  const child = new Child([...fromSource, program, origin, JSON.stringify(headers)]);
  return {
    async measure(load) {
      child.send(load);
      return latencies(await child.report<number[]>());
    },
    close: () => child.end(),
  };
}
