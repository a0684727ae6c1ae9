/**
 * Columns of an insert as binary arrays. As text each element is escaped here and parsed there, which costs both sides
 * more than the row itself; `pg` sends a Buffer in binary form as it is.
 */
import type { ColumnType } from "../types.js";

type Element = string | number | null;

/** OIDs of the elements (PostgreSQL's pg_type.dat). */
const elementOid: Readonly<Record<ColumnType, number>> = { bigint: 20, text: 25, "double precision": 701 };

const HEADER_BYTES = 20;
/** Most bytes of UTF-8 for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/** Bytes of all elements with their lengths; of text as if it were ASCII, which nearly all of it is. */
function likelySize(type: ColumnType, values: readonly Element[]): number {
  if (type !== "text") return HEADER_BYTES + values.length * 12;
  let units = 0;
  for (const value of values) if (value !== null) units += (value as string).length;
  return HEADER_BYTES + values.length * 4 + units;
}

/** The buffer, or a larger one with its beginning, in which an element and its length have room. */
function withRoom(buffer: Buffer, at: number, value: Element): Buffer {
  const left = buffer.length - at - 4;
  const text = typeof value === "string" ? value : "";
  const most = typeof value === "number" ? 8 : text.length * BYTES_PER_UNIT;
  const enough = most <= left || (text !== "" && Buffer.byteLength(text) <= left);
  if (enough) return buffer;
  const larger = Buffer.allocUnsafe(buffer.length * 2 + most);
  buffer.copy(larger, 0, 0, at);
  return larger;
}

/** Writes an element after its length. @returns its length in bytes */
function writeElement(buffer: Buffer, at: number, type: ColumnType, value: string | number): number {
  switch (type) {
    case "text":
      return buffer.write(value as string, at);
    case "bigint":
      buffer.writeBigInt64BE(BigInt(value), at);
      return 8;
    case "double precision":
      buffer.writeDoubleBE(Number(value), at);
      return 8;
  }
}

/**
 * One array of one dimension in PostgreSQL's binary form: number of dimensions, whether there are nulls, the elements'
 * type, their number, the first index; then each element after its length in bytes, -1 for null.
 * @param values of the type, or null
 */
export function binaryArray(type: ColumnType, values: readonly Element[]): Buffer {
  let buffer: Buffer = Buffer.allocUnsafe(likelySize(type, values));
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(elementOid[type], 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    buffer = withRoom(buffer, at, value);
    const bytes = value === null ? -1 : writeElement(buffer, at + 4, type, value);
    buffer.writeInt32BE(bytes, at);
    at += 4 + Math.max(0, bytes);
  }
  return buffer.subarray(0, at);
}
