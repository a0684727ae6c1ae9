/** What a test file's process knows of the runner that started it. */
import { isMainThread } from "node:worker_threads";

/** Names the process that runs the tests. */
export const RUNNER = "ADBIND_TEST_RUNNER";
/** Begins the line in which a test file tells its processor time. */
export const PROCESSOR = "processor seconds: ";

/** @returns whether this is a test file's own process, started by a runner: neither run alone, nor one of its children */
export const startedByRunner = (): boolean => isMainThread && process.env[RUNNER] === String(process.ppid);
