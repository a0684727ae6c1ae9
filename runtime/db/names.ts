/** Names that others choose, as parts of index entries: databases bound those, and each in its own way. */
import { AdbindError } from "../errors.js";

/** Most bytes that the names in one entry have together, in UTF-8: PostgreSQL takes 2,704 of an entry, with numbers beside them. */
const MAX_NAMES_BYTES = 2_500;
/** Of one UTF-16 code unit, at most. */
const UNIT_BYTES = 3;

/**
 * The same on every engine: what one would take and the other not is found where it is given.
 * @param names of one entry, by what they are
 * @throws AdbindError `name_invalid` for names that are longer, together
 */
export function checkIndexNames(names: Readonly<Record<string, string>>): void {
  const all = Object.values(names);
  const units = all.reduce((sum, name) => sum + name.length, 0);
  if (units * UNIT_BYTES <= MAX_NAMES_BYTES) return;
  const bytes = all.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  if (bytes <= MAX_NAMES_BYTES) return;
  throw new AdbindError("name_invalid", `a name has ${bytes} bytes, which no index takes`, {
    where: Object.keys(names).join(", "),
    remedy: `use at most ${MAX_NAMES_BYTES.toLocaleString("en")} bytes of UTF-8, together`,
  });
}
