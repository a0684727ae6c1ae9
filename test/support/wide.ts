/** Names of characters that have four bytes in UTF-8, in no order that could be compressed. */
import { randomInt } from "node:crypto";

export const wide = (characters: number): string =>
  Array.from({ length: characters }, () => String.fromCodePoint(randomInt(0x20000, 0x2a6d0))).join("");
