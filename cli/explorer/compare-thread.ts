/** The thread that `comparer.ts` starts: reads two releases, compares them, and tells what it found. */
import { parentPort, workerData } from "node:worker_threads";
import { AdbindError } from "../../runtime/errors.js";
import { loadOne } from "./load.js";
import { compareReleases, reportKey } from "./plan.js";

/** What the thread is asked. */
export interface AskedComparison {
  readonly older: string;
  readonly newer: string;
  /** The key of the releases that are meant: their files may have changed since. */
  readonly key: string;
}

const { older, newer, key } = workerData as AskedComparison;
const [a, b] = [await loadOne(older), await loadOne(newer)];
if (reportKey(a, b) !== key)
  throw new AdbindError("release_unreadable", "a release changed while it was being compared", {
    where: `${older}, ${newer}`,
    remedy: "ask again",
  });
parentPort!.postMessage(compareReleases(a, b));
