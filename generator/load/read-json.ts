/** JSON of a release, strictly: one that names a key twice would lose half of what it says. */
import { parseStrict } from "../../runtime/json.js";
import { type Finding, pointerToken } from "../finding.js";
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

/** A byte order mark of UTF-16, which shells of Windows write into files. */
const isUtf16 = (bytes: Buffer): boolean => ["fffe", "feff"].includes(bytes.toString("hex", 0, 2));

/** Where the text stops being JSON, as the parser says it. */
function syntaxError(bytes: Buffer): string {
  if (isUtf16(bytes)) return "UTF-16, and JSON is UTF-8: save it as that";
  try {
    JSON.parse(bytes.toString("utf8"));
    return "not valid UTF-8";
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
}

/** A value that cannot be told as it stands, and where it is. */
interface Untold {
  readonly pointer: string;
  readonly message: string;
  readonly remedy: string;
}

const tooLarge = {
  message: "a number larger than a double can hold, which readers take for endless",
  remedy: "Give one below 1.8e308, or leave the keyword out: a bound that large forbids nothing.",
};
const halved = {
  message: "a text with half a character (a lone surrogate), which no UTF-8 text can hold",
  remedy: "Write the character whole, or leave it out.",
};

function untoldIn(value: SchemaJson, pointer = ""): Untold | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { pointer, ...tooLarge };
  if (typeof value === "string") return value.isWellFormed() ? undefined : { pointer, ...halved };
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = key.isWellFormed() ? untoldIn(inner, `${pointer}/${pointerToken(key)}`) : { pointer, ...halved };
    if (found !== undefined) return found;
  }
  return undefined;
}

const refused = (file: string, fault: Untold): ReadJson => ({
  value: undefined,
  findings: [{ level: "error", rule: "json", file, ...fault }],
});

/** Parses with keys sorted; a fault is a finding, and `value` then undefined. */
export function readJson(bytes: Buffer, file: string): ReadJson {
  const text = withoutMark(bytes);
  const parsed = parseStrict(text, MAX_LEVELS);
  if (parsed.ok) {
    const untold = untoldIn(parsed.value as SchemaJson);
    return untold === undefined ? { value: sortKeys(parsed.value as SchemaJson), findings: [] } : refused(file, untold);
  }
  const doubled = parsed.reason === "duplicate_keys";
  const message = doubled
    ? parsed.detail
    : parsed.reason === "depth"
      ? `nests deeper than ${MAX_LEVELS} levels`
      : syntaxError(text);
  const remedy = doubled ? "Keep one of each: a reader would silently drop the others." : "Correct the file.";
  return refused(file, { pointer: "", message, remedy });
}
