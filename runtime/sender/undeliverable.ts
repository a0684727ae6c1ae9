/** What is to be told and cannot be: it is set aside with its reason, where an operator sees it, and the others go on. */
import { AdbindError } from "../errors.js";
import type { ChannelRow } from "../store/sender-tables.js";
import { type ChannelDependencies, target } from "./channel.js";
import { encodeBody } from "./envelope.js";
import { type Delivery, orderingKeyOf } from "./outbox.js";
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

/** What work says, and of what cannot be built why. @throws what is no fault of the event's own */
export function builtOr<T>(build: () => T, refused: (why: string) => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof AdbindError) || error.code !== "event_invalid") throw error;
    return refused(error.message);
  }
}
