/** How a test starts a process that reads the sources. */
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Flags of node, wherever the process starts. */
export const fromSource: readonly string[] = [
  "--import",
  pathToFileURL(path.resolve(import.meta.dirname, "sources.mjs")).href,
  "--conditions=adbind-source",
];
