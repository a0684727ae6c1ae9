/** What is to be told and cannot be: it is set aside with its reason, where an operator sees it, and the others go on. */
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { ChannelRow } from "../store/sender-tables.js";
import { type ChannelDependencies, target } from "./channel.js";
import { encodeBody } from "./envelope.js";
import { type Delivery, enqueue, orderingKeyOf } from "./outbox.js";
import { channelRegistration } from "./registered-config.js";

/** @param of its type, and why it cannot be delivered @returns an event that is never attempted */
export function undeliverable(
  parts: Pick<ChannelDependencies, "releases" | "uuid">,
  row: ChannelRow,
  { type, why }: { readonly type: string; readonly why: string },
): Delivery {
  const order = { key: parts.uuid(), orderingKey: orderingKeyOf("undeliverable", channelRegistration(row)) };
  const body = encodeBody({ resource: row.resource }, row.resource);
  return { ...target(parts, row), ...order, type, undeliverable: why.replaceAll("\0", ""), body };
}

/** To an operator, of a buy's channel that sends nothing: the buyer is to register again with an operation of its own. */
export function* tellUnnamed(parts: ChannelDependencies, tx: Query, row: ChannelRow): Coroutine<void> {
  const { resource: mediaBuyId, kind, principal } = row;
  const [what, where] =
    kind === "events" ? ["impairment", "push_notification_config"] : ["delivery report", "reporting_webhook"];
  const why = `its ${where} has no operation_id, which the release's payload requires`;
  parts.log?.warn({ mediaBuyId, principal }, `no ${what} is sent: ${why}`);
  yield* enqueue(parts, tx, [undeliverable(parts, row, { type: "undeliverable", why })]);
}

/** What work says, and of what cannot be built why. @throws what is no fault of the event's own */
export function builtOr<T>(build: () => T, refused: (why: string) => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof AdbindError) || error.code !== "event_invalid") throw error;
    return refused(error.message);
  }
}
