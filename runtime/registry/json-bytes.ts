/** Large answers put together outside of the heap: as strings they would be there twice, and large ones die slowly. */

/** A JSON document in UTF-8. */
export type JsonBytes<Document> = Buffer & { readonly document?: Document };

const COMMA = 0x2c;

function sizeOf(parts: readonly (string | Iterable<string>)[]): number {
  let size = 0;
  for (const part of parts) {
    if (typeof part === "string") size += Buffer.byteLength(part);
    else for (const item of part) size += Buffer.byteLength(item) + 1;
  }
  return size;
}

/** @param parts JSON as it is, and items that commas are put between */
export function jsonBytes<Document>(parts: readonly (string | Iterable<string>)[]): JsonBytes<Document> {
  const buffer = Buffer.allocUnsafeSlow(sizeOf(parts));
  let at = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      at += buffer.write(part, at);
      continue;
    }
    let first = true;
    for (const item of part) {
      if (!first) at = buffer.writeUInt8(COMMA, at);
      at += buffer.write(item, at);
      first = false;
    }
  }
  return buffer.subarray(0, at);
}
