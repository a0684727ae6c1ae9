/** The cursor of a search: where a traversal stands, as text. It is no secret and needs no signature: it names no more than a page shows. */
import type { Key } from "./agent-index.js";

/** Where a traversal stands. */
export interface TraversalPlace {
  /** Clock at which it began. */
  readonly seq: number;
  /** Undefined: at its beginning. */
  readonly after: Key | undefined;
  /** Parts of the index that did not answer and stand further back. */
  readonly waiting?: Waiting | undefined;
}

export interface Waiting {
  /** Parts that there were. */
  readonly of: number;
  /** By number of the part, from 1: where it stands; undefined is the beginning. */
  readonly parts: ReadonlyMap<number, Key | undefined>;
}

type Pair = readonly [] | readonly [score: number, url: string];

const pairOf = (key: Key | undefined): Pair => (key === undefined ? [] : [key.score, key.url]);

/** @param place at its beginning only where parts wait */
export function formatCursor({ seq, after, waiting }: TraversalPlace): string {
  const more = waiting && [waiting.of, ...[...waiting.parts].map(([part, key]) => [part, ...pairOf(key)])];
  const serialized =
    more === undefined ? [seq, ...pairOf(after)] : [seq, ...(after ? pairOf(after) : [null, null]), more];
  return Buffer.from(JSON.stringify(serialized)).toString("base64url");
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function keyOf(score: unknown, url: unknown): Key | undefined {
  if (typeof score !== "number" || !Number.isFinite(score) || typeof url !== "string") return undefined;
  // PostgreSQL takes no text with this character.
  return url.includes("\0") ? undefined : { score, url };
}

function waitingOf(value: unknown): Waiting | undefined {
  if (!Array.isArray(value)) return undefined;
  const [of, ...rest] = value as unknown[];
  if (!isCount(of) || rest.length > of) return undefined;
  const parts = new Map<number, Key | undefined>();
  for (const one of rest) {
    if (!Array.isArray(one) || !isCount(one[0]) || one[0] < 1 || one[0] > of) return undefined;
    const key = keyOf(one[1], one[2]);
    if (key === undefined && one.length > 1) return undefined;
    parts.set(one[0], key);
  }
  return { of, parts };
}

/** @returns undefined for a text that no search answered */
export function parseCursor(text: string): TraversalPlace | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || (value.length !== 3 && value.length !== 4)) return undefined;
  const [seq, score, url, rest] = value as unknown[];
  const after = keyOf(score, url);
  if (!isCount(seq)) return undefined;
  if (value.length === 3) return after && { seq, after };
  const waiting = waitingOf(rest);
  if (waiting === undefined || (after === undefined && (score !== null || url !== null))) return undefined;
  return { seq, after, waiting };
}
