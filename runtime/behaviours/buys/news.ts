/** What has changed in a buy without the ad server, which hears of it afterwards: nobody waits for its word. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { MediaBuy } from "./buys.js";

interface News {
  readonly media_buy_id: string;
}

export const NEWS = "ad_server_news";

const kept = collection<News>(NEWS);

/** Kept with the change. What is not booked is told when it is. */
export function tellLater(call: BehaviourCall, { media_buy_id, booking }: MediaBuy): void {
  if (call.ports.adServer.remembers !== true && booking !== undefined)
    kept.put(call, call.principal, media_buy_id, { media_buy_id });
}

export const newsOf = (call: BehaviourCall): Promise<News[]> => kept.list(call, call.principal);

export const forgetNews = (call: BehaviourCall, id: string): void => kept.remove(call, call.principal, id);
