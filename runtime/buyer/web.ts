/** `adbind/buyer/web`: buyers in browsers, workers and every other runtime with fetch and WebCrypto; nothing of node in its graph. */
import type { Release } from "../contract/index.js";
import { type Buyer, createBuyerOn } from "./create.js";
import type { BuyerOptions } from "./types.js";
import { webPlatform } from "./web-platform.js";

/**
 * Makes a buyer of one agent, as `createBuyer` of adbind/buyer does. Requests go by the platform's own fetch, which guards no
 * addresses: what may be reached is for the page or the worker to say. `onInvalid` wants a `validator` made with --standalone.
 * @throws AdbindError `buyer_option_invalid`
 */
export const createWebBuyer = <R extends Release>(options: BuyerOptions<R>): Buyer<R> =>
  createBuyerOn(webPlatform, options);

export type { Buyer, NegotiationResult } from "./create.js";
export type { BuyerOptions, CallOptions, CallResult, NegotiatedRelease } from "./types.js";
