/** Bodies of events as whoever seals them anew goes through them. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

export interface BodyRow {
  readonly id: number;
  /** When it was stored: what its body is found by. */
  readonly at: number;
  readonly key: string;
  readonly meta: string;
  readonly body: Uint8Array;
}

/** A payload that waits to be one event with others. */
export interface PayloadRow {
  readonly resource: string;
  readonly slot: string;
  readonly principal: string;
  readonly payload: string;
}

export interface BodyTables {
  /** Events by number, after one. @param bytes of each body, at most */
  bodiesAfter(
    tx: Query,
    topic: string,
    page: { readonly after: number; readonly limit: number; readonly bytes: number },
  ): Coroutine<BodyRow[]>;
  /** Puts another body in the place of one. @returns rows changed: none where the event is gone */
  putBody(tx: Query, row: Pick<BodyRow, "id" | "at">, body: Uint8Array): Coroutine<number>;
  /** Payloads by resource and slot, after one. */
  payloadsAfter(tx: Query, after: Pick<PayloadRow, "resource" | "slot">, limit: number): Coroutine<PayloadRow[]>;
  /** @returns rows changed: none where somebody else was faster */
  putPayload(tx: Query, row: PayloadRow, payload: string): Coroutine<number>;
}

export const bodyTables: BodyTables = {
  bodiesAfter: (tx, topic, { after, limit, bytes }) =>
    tx.rows<BodyRow>(
      "select j.id, b.at, j.key, b.meta, substr(b.body, 1, ?) as body from adbind_jobs j join adbind_job_bodies b " +
        "on b.job = j.id and b.at = j.body_at where j.topic = ? and j.id > ? order by j.id limit ?",
      [bytes, topic, after, limit],
    ),
  putBody: (tx, { id, at }, body) =>
    tx.run("update adbind_job_bodies set body = ? where job = ? and at = ?", [body, id, at]),
  payloadsAfter: (tx, { resource, slot }, limit) =>
    tx.rows<PayloadRow>(
      "select w.resource, w.slot, w.payload, c.principal from adbind_coalescing w join adbind_channels c " +
        "on c.resource = w.resource and c.kind = 'events' and c.subscriber = '' " +
        "where (w.resource, w.slot) > (?, ?) order by w.resource, w.slot limit ?",
      [resource, slot, limit],
    ),
  putPayload: (tx, { resource, slot, payload: before }, payload) =>
    tx.run("update adbind_coalescing set payload = ? where resource = ? and slot = ? and payload = ?", [
      ...[payload, resource, slot, before],
    ]),
};
