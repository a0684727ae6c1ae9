/** Large answers put together outside of the heap: as strings they would be there twice, and large ones die slowly. */

/** A JSON document in UTF-8. */
export type JsonBytes<Document> = Buffer & {
  readonly document?: Document;
  /** All of it but what says when it was made. */
  readonly lasting: Buffer;
};

/** A list whose items are JSON already; a text may hold several, with commas between. */
export class JsonList {
  constructor(readonly items: Iterable<string>) {}
}

type Members = Readonly<Record<string, unknown>>;

type Part = string | Iterable<string>;

const COMMA = 0x2c;

const sizeOf = (part: Part): number => {
  if (typeof part === "string") return Buffer.byteLength(part);
  let size = 0;
  for (const item of part) size += Buffer.byteLength(item) + 1;
  return size;
};

function write(buffer: Buffer, start: number, part: Part): number {
  if (typeof part === "string") return start + buffer.write(part, start);
  let at = start;
  for (const item of part) {
    if (at > start) at = buffer.writeUInt8(COMMA, at);
    at += buffer.write(item, at);
  }
  return at;
}

/** Members with a comma before each, but the first of all. */
const partsOf = (members: Members, first: boolean): Part[] =>
  Object.entries(members).flatMap(([name, value], at) => {
    const head = `${first && at === 0 ? "" : ","}${JSON.stringify(name)}:`;
    return value instanceof JsonList ? [`${head}[`, value.items, "]"] : [head + JSON.stringify(value)];
  });

/**
 * An object with some lists that are JSON already.
 * @param members at least one
 * @param moment its last members, which say when it was made
 */
export function jsonBytes<Document>(members: Members, moment: Members): JsonBytes<Document> {
  const lasting: Part[] = ["{", ...partsOf(members, true)];
  const rest: Part[] = [...partsOf(moment, false), "}"];
  const buffer = Buffer.allocUnsafeSlow([...lasting, ...rest].reduce((sum, part) => sum + sizeOf(part), 0));
  const middle = lasting.reduce((at: number, part) => write(buffer, at, part), 0);
  const end = rest.reduce((at: number, part) => write(buffer, at, part), middle);
  return Object.assign(buffer.subarray(0, end), { lasting: buffer.subarray(0, middle) });
}
