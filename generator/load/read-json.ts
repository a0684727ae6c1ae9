/** JSON of a release, strictly: one that names a key twice would lose half of what it says. */
import { parseStrict } from "../../runtime/json.js";
import type { Finding } from "../finding.js";
import { type SchemaJson, sortKeys } from "./walk.js";

export interface ReadJson {
  value: SchemaJson | undefined;
  findings: Finding[];
}

/** Levels a file of a release may nest; published ones reach about 40. */
const MAX_LEVELS = 1000;

/** A byte order mark says nothing in UTF-8, and editors add it unasked. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/** Where the text stops being JSON, as the parser says it. */
function syntaxError(bytes: Buffer): string {
  try {
    JSON.parse(bytes.toString("utf8"));
    return "not valid UTF-8";
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
}

/** Parses with keys sorted; a fault is a finding, and `value` then undefined. */
export function readJson(bytes: Buffer, file: string): ReadJson {
  const text = withoutMark(bytes);
  const parsed = parseStrict(text, MAX_LEVELS);
  if (parsed.ok) return { value: sortKeys(parsed.value as SchemaJson), findings: [] };
  const doubled = parsed.reason === "duplicate_keys";
  const message = doubled
    ? parsed.detail
    : parsed.reason === "depth"
      ? `nests deeper than ${MAX_LEVELS} levels`
      : syntaxError(text);
  const remedy = doubled ? "Keep one of each: a reader would silently drop the others." : "Correct the file.";
  return { value: undefined, findings: [{ level: "error", rule: "json", file, pointer: "", message, remedy }] };
}
