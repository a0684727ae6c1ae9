/** JSON of a release, strictly: one that names a key twice would lose half of what it says. */
import type { Finding } from "../finding.js";
import { type Json, sortKeys } from "./walk.js";

export interface ReadJson {
  value: Json | undefined;
  findings: Finding[];
}

/** Parses with keys sorted; a fault is a finding, and `value` then undefined. */
export function readJson(bytes: Buffer, file: string): ReadJson {
  const bad = (message: string, remedy: string): ReadJson => ({
    value: undefined,
    findings: [{ level: "error", rule: "json", file, pointer: "", message, remedy }],
  });
  let text = bytes.toString("utf8");
  if (text.startsWith("\uFEFF")) text = text.slice(1);
  try {
    return { value: sortKeys(JSON.parse(text) as Json), findings: [] };
  } catch (error) {
    return bad(`not JSON: ${(error as Error).message}`, "Correct the file.");
  }
}
