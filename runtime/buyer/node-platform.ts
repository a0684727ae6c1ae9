/** A buyer on node: a guarded fetch, node's crypto, and validators that compile; each loaded when it is first used. */
import type { GuardedFetch } from "../net/index.js";
import { validatorsFrom } from "../validate/source.js";
import type { BuyerPlatform } from "./platform.js";

export const nodePlatform: BuyerPlatform = {
  /** It brings an HTTP client and the public suffixes along. */
  makeFetch(allowLocal, timeoutMs) {
    let made: Promise<GuardedFetch> | undefined;
    const make = async (): Promise<GuardedFetch> => {
      const { createGuardedFetch } = await import("../net/index.js");
      const timeouts = { readMs: timeoutMs, totalMs: timeoutMs };
      return createGuardedFetch({ allowHttp: allowLocal, allowLoopback: allowLocal, timeouts });
    };
    return {
      async fetch(url, request) {
        made ??= make();
        return (await made)(url, request);
      },
      close: async () => (await made)?.close(),
    };
  },
  signer: async () => (await import("../signing/index.js")).signRequest,
  validatorsOf: validatorsFrom,
};
