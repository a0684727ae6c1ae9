/** How much of what publishers say is worked on at once: anybody may be hundreds of them, with megabytes each. */

/** Of rows read in one transaction, in bytes; some times that is what they take while they are worked on. */
const READ_BYTES = 16_000_000;
/** What a property counts for, in bytes. */
export const PROPERTY_BYTES = 200;

/** The first of some rows that are read at once, and at least one. @param bytesOf what one weighs */
export function fitting<T>(rows: readonly T[], bytesOf: (row: T) => number): readonly T[] {
  let sum = 0;
  const end = rows.findIndex((row, at) => {
    sum += bytesOf(row);
    return at > 0 && sum > READ_BYTES;
  });
  return end < 0 ? rows : rows.slice(0, end);
}
