/** Moments that schemas let pass and no clock here reaches: compared with another they are neither before nor after it. */
import { isJsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";

/** A moment in full, as RFC 3339 and as databases print it: leap seconds, and zones by the hour, are among them. */
const moment = /^\d{4}-\d\d-\d\d[t\s]\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i;

/** What is the caller's own, or of the things that it sells, is kept as it was written. */
const opaque: ReadonlySet<string> = new Set(["context", "ext", "items"]);

/** With a blank for the T, years before 100 are read as those of a century near ours: 0050 as 1950, and 0049 as 2049. */
function isLost(text: string): boolean {
  if (!moment.test(text)) return false;
  const at = Date.parse(text);
  // A zone moves a moment into the year beside the one that is written, and no further.
  return Number.isNaN(at) || Math.abs(new Date(at).getUTCFullYear() - Number(text.slice(0, 4))) > 1;
}

function lostIn(value: unknown, at: string): string | undefined {
  if (typeof value === "string") return isLost(value) ? at : undefined;
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      const found = lostIn(one, `${at}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (const [name, one] of Object.entries(value)) {
    const found = opaque.has(name) ? undefined : lostIn(one, at === "" ? name : `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * An order that ends at such a moment would never end, and what expires then would never expire.
 * @throws ToolError INVALID_REQUEST
 */
export function checkInstants(request: unknown): void {
  const field = lostIn(request, "");
  if (field === undefined) return;
  throw new ToolError(
    "INVALID_REQUEST",
    "give a moment with a T before its hours, with hours and minutes of its zone, and without a leap second",
    { field },
  );
}
