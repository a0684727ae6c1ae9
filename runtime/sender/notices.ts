/** Notices to those who subscribed to a resource: lists, artifacts, rights. */
import type { JsonObject } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { missingInNotice, type ResourceNotice } from "../facts/index.js";
import { type ChannelDependencies, channelOrderingKey, isReadable, target } from "./channel.js";
import { encodeBody } from "./envelope.js";
import { type Delivery, enqueue } from "./outbox.js";
import type { Emitted } from "./types.js";

/** A kind of notice to those who subscribed to a resource. */
export type NoticeKind = ResourceNotice;

/** @throws AdbindError `event_invalid` for a payload that lacks a field, or an event that the release does not have */
export function checkNotice({ releases }: ChannelDependencies, kind: NoticeKind, payload: JsonObject): void {
  const { release } = releases.of();
  const missing = missingInNotice(release, kind, payload);
  if (missing === undefined) {
    throw new AdbindError("event_invalid", `release ${release.version} has no such notice`, {
      where: typeof payload.event === "string" ? `event: ${payload.event}` : kind,
      remedy: "send what the release has; its events are listed by `release.events`",
    });
  }
  if (missing.length === 0 && !("idempotency_key" in payload)) return;
  throw new AdbindError("event_invalid", "a notice is not complete", {
    where: missing.length > 0 ? missing.join(", ") : "idempotency_key",
    remedy: missing.length > 0 ? "give the missing fields" : "leave the key out: each event gets its own",
  });
}

export function* noticeFlow(
  parts: ChannelDependencies,
  tx: Query,
  {
    kind,
    resource,
    payload,
    principal,
  }: { kind: NoticeKind; resource: string; payload: JsonObject; principal: string | undefined },
): Coroutine<Emitted> {
  const { tables, uuid, log } = parts;
  const channels = (yield* tables.subscribers(tx, resource, kind, principal)).filter(
    (row) => row.config !== "null" && isReadable(row, log),
  );
  const type = typeof payload.event === "string" ? payload.event : kind;
  const deliveries = channels.map((channel): Delivery => {
    const key = uuid();
    const body = encodeBody({ idempotency_key: key, ...payload }, `${kind} ${resource}`);
    // Each has its own order: none of them waits for another's first attempt.
    return { ...target(parts, channel), key, orderingKey: channelOrderingKey(channel), type, body };
  });
  yield* enqueue(parts, tx, deliveries);
  return { keys: deliveries.map(({ key }) => key) };
}
