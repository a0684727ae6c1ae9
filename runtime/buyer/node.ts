/** Buyers on node. */
import type { Release } from "../contract/index.js";
import { type Buyer, createBuyerOn } from "./create.js";
import { type Buyers, type BuyersOptions, createBuyersBy } from "./each.js";
import { nodePlatform } from "./node-platform.js";
import type { BuyerOptions } from "./types.js";

/**
 * Makes a buyer of one agent. Nothing is loaded or sent before the first call.
 * @throws AdbindError `buyer_option_invalid`
 */
export const createBuyer = <R extends Release>(options: BuyerOptions<R>): Buyer<R> =>
  createBuyerOn(nodePlatform, options);

/**
 * Makes buyers of many agents, with options that all of them share.
 * @throws AdbindError `buyer_option_invalid`
 */
export const createBuyers = <R extends Release>(options: BuyersOptions<R>): Buyers<R> =>
  createBuyersBy<R>(createBuyer, options);
