/**
 * Places in the feed as UUIDs, which is what clients of registries keep. An event's id tells its own place and sorts by it;
 * a cursor tells besides from where on its reader has read: one that began at the beginning misses nothing by what was
 * forgotten before it began.
 */

/** A place: what changed at a clock, authorizations before agents, each by its number. */
export interface FeedPlace {
  readonly seq: number;
  readonly kind: 0 | 1;
  readonly number: number;
}

export interface Cursor extends FeedPlace {
  /** Clock at which the reading began; 0 where it is not known. */
  readonly since: number;
}

export const beginning: FeedPlace = { seq: 0, kind: 0, number: 0 };

/** Widths in bits; with the UUID's own version and variant 128 in all. */
const SEQ = 36n;
const NUMBER = 34n;
const ORDINAL = 3n;
/** Above any clock, and below any time in milliseconds since 2005: by it an event's id is told from a cursor. */
const LARGEST_SEQ = 2 ** 36;

function uuidOf(head: number, { seq, kind, number }: FeedPlace, ordinal: number): string {
  const low = (((((BigInt(seq) << 1n) | BigInt(kind)) << NUMBER) | BigInt(number)) << ORDINAL) | BigInt(ordinal);
  const a = low >> 62n;
  const b = low & ((1n << 62n) - 1n);
  const all = (BigInt(head) << 80n) | (7n << 76n) | (a << 64n) | (2n << 62n) | b;
  const hex = all.toString(16).padStart(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** @param at unix milliseconds @param ordinal among the events of one change */
export const eventId = (at: number, place: FeedPlace, ordinal: number): string => uuidOf(at, place, ordinal);

export const cursorText = ({ since, ...place }: Cursor): string => uuidOf(since, place, 7);

/** Undefined where it is none of ours. */
export function readCursor(text: string): Cursor | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text)) return undefined;
  const all = BigInt(`0x${text.replaceAll("-", "")}`);
  const low = (((all >> 64n) & 0xfffn) << 62n) | (all & ((1n << 62n) - 1n));
  const place = low >> ORDINAL;
  const head = Number(all >> 80n);
  return {
    since: head < LARGEST_SEQ ? head : 0,
    seq: Number((place >> (NUMBER + 1n)) & ((1n << SEQ) - 1n)),
    kind: ((place >> NUMBER) & 1n) === 1n ? 1 : 0,
    number: Number(place & ((1n << NUMBER) - 1n)),
  };
}
