/** Comparisons in a thread of their own, one after the other, so that a server answers while one is made. */
import { Worker } from "node:worker_threads";
import type { DiffReport } from "../../generator/diff/finding.js";
import { AdbindError } from "../../runtime/errors.js";
import type { AskedComparison } from "./compare-thread.js";
import type { ReadRelease } from "./load.js";
import { reportKey } from "./plan.js";

/** Milliseconds that a comparison may take; the largest that are known take less than a tenth of it. */
const LIMIT_MS = 300_000;

const THREAD = new URL(`./compare-thread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

export interface Comparer {
  /**
   * AskedComparison twice for the same two while it is at it, it compares once.
   * @throws AdbindError release_unreadable where a release changed meanwhile or took too long; what the thread threw
   */
  compare(older: ReadRelease, newer: ReadRelease): Promise<DiffReport>;
  /** Ends the comparison that is being made, and those that wait. */
  close(): Promise<void>;
}

async function answerOf(worker: Worker, what: string): Promise<DiffReport> {
  return new Promise<DiffReport>((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new AdbindError("release_unreadable", `the comparison ${why}`, { where: what, remedy: "ask again" }));
    const late = setTimeout(() => failed(`took more than ${LIMIT_MS / 1000} seconds`), LIMIT_MS);
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => {
      clearTimeout(late);
      failed("was ended");
    });
  });
}

/** @param tell told before each comparison */
export function createComparer(tell: (line: string) => void): Comparer {
  const made = new Map<string, Promise<DiffReport>>();
  let last: Promise<unknown> = Promise.resolve();
  let worker: Worker | undefined;
  let closed = false;
  const begin = async (older: ReadRelease, newer: ReadRelease): Promise<DiffReport> => {
    const what = `${older.atlas.model.version} with ${newer.atlas.model.version}`;
    if (closed) throw new AdbindError("release_unreadable", "the server is closing", { where: what });
    tell(`comparing ${what}`);
    const asked: AskedComparison = { older: older.source, newer: newer.source, key: reportKey(older, newer) };
    worker = new Worker(THREAD, { workerData: asked });
    try {
      return await answerOf(worker, what);
    } finally {
      await worker.terminate();
    }
  };
  return {
    compare(older, newer) {
      const key = reportKey(older, newer);
      const known = made.get(key);
      if (known !== undefined) return known;
      const next = last.then(() => begin(older, newer)).finally(() => made.delete(key));
      last = next.catch(() => undefined);
      made.set(key, next);
      return next;
    },
    async close() {
      closed = true;
      await worker?.terminate();
      await last;
    },
  };
}
