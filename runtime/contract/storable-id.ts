/** Longest identifier, in UTF-8 bytes: it is part of an index entry, which databases bound. */
export const MAX_ID_BYTES = 1024;

/**
 * Whether a text is an identifier that every database stores as it is, and tells from every other: no NUL, no lone surrogate
 * (all of which are stored as one character), not too long for an index.
 */
export const isStorableId = (value: unknown): value is string =>
  typeof value === "string" &&
  value !== "" &&
  !value.includes("\0") &&
  value.isWellFormed() &&
  // No character has more than three bytes for each of its units.
  (value.length * 3 <= MAX_ID_BYTES || new TextEncoder().encode(value).length <= MAX_ID_BYTES);
