/** Tells who follows a list that it has changed; they fetch it then. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import { after } from "../../effects.js";
import type { Call } from "../../handler.js";

export interface ListChange {
  readonly noun: "property" | "collection";
  readonly listId: string;
  readonly listName: string;
  readonly added: number;
  readonly removed: number;
  readonly total: number;
  readonly [resolution: string]: unknown;
}

const plural = { property: "properties", collection: "collections" } as const;

/** Has changes of a list sent to an address; an empty one ends that. */
export function follow(call: Call, listId: string, url: string): void {
  const { sender } = call.ctx;
  if (sender === undefined) {
    if (url === "") return;
    throw new ToolError(
      "UNSUPPORTED_FEATURE",
      "this agent sends no notices: fetch the list again when its time is up",
      {
        field: "webhook_url",
      },
    );
  }
  const config = url === "" ? null : { url };
  call.ctx.effect((tx) => {
    const subscription = { resource: listId, principal: call.principal };
    return after(sender.channels.subscribe("list_change", subscription, config, { tx }), (done) => {
      if (!done.ok) throw new ToolError(done.error.code, done.error.message, { field: "webhook_url" });
    });
  });
}

/** Sends a notice where the members have changed, in the transaction that changes them. */
export function announce(call: Call, { noun, listId, listName, added, removed, total, ...resolved }: ListChange): void {
  const { sender } = call.ctx;
  if (sender === undefined || added + removed === 0) return;
  const notice: JsonObject = {
    event: `${noun}_list_changed`,
    list_id: listId,
    list_name: listName,
    change_summary: {
      [`${plural[noun]}_added`]: added,
      [`${plural[noun]}_removed`]: removed,
      [`total_${plural[noun]}`]: total,
    },
    ...resolved,
    // The body has a place for a signature; the one that counts is in the headers.
    signature: "RFC 9421: see the Signature header",
  };
  call.ctx.effect((tx) => after(sender.channels.notify("list_change", listId, notice, { tx })));
}
