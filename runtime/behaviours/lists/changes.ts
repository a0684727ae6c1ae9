/** Tells who follows a list that it has changed; they fetch it then. */
import type { JsonObject } from "../../contract/index.js";
import { isPromise } from "../../db/coroutine.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";

export interface ListChange {
  readonly noun: "property" | "collection";
  readonly listId: string;
  readonly listName: string;
  readonly added: number;
  readonly removed: number;
  readonly total: number;
  readonly resolution: JsonObject;
}

const plural = { property: "properties", collection: "collections" } as const;

/** Has changes of a list sent to an address; an empty one ends that. */
export function follow(call: BehaviourCall, listId: string, url: string): void {
  const { sender } = call.ctx;
  if (sender === undefined) {
    if (url === "") return;
    const message = "this agent sends no notices: fetch the list again when its time is up";
    throw new ToolError("UNSUPPORTED_FEATURE", message, { field: "webhook_url" });
  }
  const config = url === "" ? null : { url };
  const subscription = { resource: listId, principal: call.principal };
  call.ctx.effect((tx) => {
    const refuse = (done: Awaited<ReturnType<typeof sender.channels.subscribe>>): void => {
      if (!done.ok) throw new ToolError(done.error.code, done.error.message, { field: "webhook_url" });
    };
    const done = sender.channels.subscribe("list_change", subscription, config, { tx });
    return isPromise(done) ? done.then(refuse) : refuse(done);
  });
}

/** Sends a notice where the members have changed, in the transaction that changes them. */
export function announce(call: BehaviourCall, change: ListChange): void {
  const { noun, listId, listName, added, removed, total, resolution } = change;
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
    ...resolution,
    // The body has a place for a signature; the one that counts is in the headers, and this is the word for that.
    signature: "rfc9421",
  };
  call.ctx.effect((tx) =>
    written(sender.channels.notify("list_change", listId, notice, { tx, principal: call.principal })),
  );
}
