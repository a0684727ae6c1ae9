import type { CreativeListener } from "../../handler.js";
import { buysOf, saveBuy, stateOf, terminal } from "./media-buy.js";
import { afterCreative } from "./tidings.js";

/** A creative that goes off the air holds its packages back: the buys say so, and their buyers hear of it. */
export const listeners: CreativeListener = (call, creative) => {
  for (const buy of buysOf(call)) {
    if (terminal.has(stateOf(call, buy))) continue;
    const changed = afterCreative(call, buy, creative);
    if (changed !== undefined) saveBuy(call, changed);
  }
};
