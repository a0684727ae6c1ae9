/** Media buys by the creatives that their packages name. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { BUYS, buysOf, type MediaBuy } from "./buys.js";

const kept = collection<MediaBuy>(BUYS);

/** A creative's id in the JSON of a buy, as `JSON.stringify` writes it. */
const NAMED = /"creative_id":("(?:[^"\\]|\\.)*")/g;

/** Which buys may name which creatives, by the text alone: to parse ten thousand for one creative would hold everybody up. */
const buysByCreative = (call: BehaviourCall): Promise<ReadonlyMap<string, ReadonlySet<string>>> =>
  call.once("buys by creative", async () => {
    const found = new Map<string, Set<string>>();
    for (const [id, text] of await kept.texts(call, call.principal))
      for (const [, quoted] of text.matchAll(NAMED)) {
        const buys = found.get(quoted!);
        if (buys === undefined) found.set(quoted!, new Set([id]));
        else buys.add(id);
      }
    return found;
  });

/** Buys of the caller that may name a creative, among those there were when the call first asked; no other is read. */
export async function buysNaming(call: BehaviourCall, creativeId: string): Promise<MediaBuy[]> {
  const ids = [...((await buysByCreative(call)).get(JSON.stringify(creativeId)) ?? [])];
  await kept.read(call, call.principal, ids);
  return buysOf(call, { ids });
}
