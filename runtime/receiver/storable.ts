/**
 * Text that a sender or a handler chose, as every database stores it.
 * @param maxChars longest text kept, in characters
 */
export const storable = (text: string, maxChars: number): string =>
  text.replaceAll("\0", "").slice(0, maxChars).toWellFormed();
