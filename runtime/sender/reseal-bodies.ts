/** The bodies of events in a rotation of keys, and which of them are under which key. */
import type { Coroutine, Query } from "../db/index.js";
import type { Queue } from "../queue/types.js";
import type { BodyRow, PayloadRow } from "../store/sender-bodies.js";
import type { SenderTables } from "../store/sender-tables.js";
import { coalescedName } from "./coalescence.js";
import { readableMeta } from "./outbox.js";
import {
  type BodyOwner,
  bodiesOf,
  bodyKeyId,
  KEY_ID_BYTES,
  openBody,
  openText,
  sealBody,
  sealText,
  textKeyId,
} from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";

/** What a rotation came to, in rows. */
export interface Resealed {
  /** Sealed anew. */
  readonly resealed: number;
  /** Under the current key before. */
  readonly current: number;
  /** Under keys that are not there: they stay as they are. */
  readonly lost: number;
  /** They do not open for what they belong to: a column was changed. */
  readonly foreign: number;
}

export interface ResealParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
}

type Came = keyof Resealed;

/** Rows in one transaction: bodies may have a MiB each. */
const PAGE_ROWS = 20;
/** Rows of which only the head is read. */
const HEAD_ROWS = 1_000;
/** More than any body has. */
const WHOLE_BYTES = 0x7fff_ffff;

/** One row that cannot be read is nobody's, and stays as it is. */
function ownerOf(row: BodyRow): BodyOwner | undefined {
  const meta = readableMeta(row);
  return meta && { principal: meta.principal, key: row.key };
}

function* resealRow({ tables, keyring }: ResealParts, tx: Query, row: BodyRow): Coroutine<Came[]> {
  const keyId = bodyKeyId(row.body);
  if (keyId === undefined) return [];
  if (keyId === keyring.current) return ["current"];
  const owner = ownerOf(row);
  if (owner === undefined) return ["foreign"];
  const opened = openBody(keyring, row.body, owner);
  if (!opened.ok) return [opened.lost ? "lost" : "foreign"];
  const changed = yield* tables.putBody(tx, row, sealBody(keyring, opened.body, owner));
  return changed === 0 ? [] : ["resealed"];
}

function* resealPayload({ tables, keyring }: ResealParts, tx: Query, row: PayloadRow): Coroutine<Came[]> {
  const keyId = textKeyId(row.payload);
  if (keyId === undefined) return [];
  if (keyId === keyring.current) return ["current"];
  const bodies = bodiesOf(keyring, true);
  const owner = { principal: row.principal, key: coalescedName(row.resource, row.slot) };
  const opened = openText(bodies, row.payload, owner);
  if (!opened.ok) return [opened.lost ? "lost" : "foreign"];
  const text = sealText(bodies, new TextDecoder().decode(opened.body), owner);
  return (yield* tables.putPayload(tx, row, text)) === 0 ? [] : ["resealed"];
}

/** Seals every body anew that is under an older key. */
export async function resealBodies(parts: ResealParts): Promise<Came[]> {
  const { queue, tables } = parts;
  const came: Came[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = await queue.transact(function* (tx): Coroutine<number | undefined> {
      const page = { after: from, limit: PAGE_ROWS, bytes: WHOLE_BYTES };
      const rows = yield* tables.bodiesAfter(tx, queue.topic, page);
      for (const row of rows) came.push(...(yield* resealRow(parts, tx, row)));
      return rows.at(-1)?.id;
    });
  }
  for (
    let after: Pick<PayloadRow, "resource" | "slot"> | undefined = { resource: "", slot: "" };
    after !== undefined;
  ) {
    const from: Pick<PayloadRow, "resource" | "slot"> = after;
    after = await queue.transact(function* (tx): Coroutine<PayloadRow | undefined> {
      const rows = yield* tables.payloadsAfter(tx, from, PAGE_ROWS);
      for (const row of rows) came.push(...(yield* resealPayload(parts, tx, row)));
      return rows.at(-1);
    });
  }
  return came;
}

/** How many bodies are under which key. */
export async function countBodies({
  queue,
  tables,
}: Pick<ResealParts, "queue" | "tables">): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: { after: number; limit: number; bytes: number } = { after, limit: HEAD_ROWS, bytes: KEY_ID_BYTES };
    const rows: BodyRow[] = await queue.read((q) => tables.bodiesAfter(q, queue.topic, page));
    for (const { body } of rows) {
      const keyId = bodyKeyId(body);
      if (keyId !== undefined) counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
    }
    after = rows.at(-1)?.id;
  }
  return counts;
}
