/** Puts the parts together: a release and an agent in, one typed method per tool out. */
import type { Answer, AnyArms, JsonObject, Recovery, Release } from "../contract/index.js";
import { list, member } from "../extract/json-object.js";
import { createAgreements } from "./agreement.js";
import { type CallParts, repeat, ToolCalling } from "./call.js";
import { createExchange } from "./exchange.js";
import { createJudge } from "./judge.js";
import type { BuyerPlatform } from "./platform.js";
import { type Reconciler, reconciler } from "./reconcile.js";
import { checkedSettings } from "./settings.js";
import type { Agreement, BuyerOptions, BuyerTools, Called, CallOptions } from "./types.js";
import { createWire } from "./wire.js";

export type Agreeing =
  | { readonly ok: true; readonly agreement: Agreement }
  /** The failed call that showed it: `VERSION_UNSUPPORTED` where nothing is spoken by both. */
  | { readonly ok: false; readonly answer: Answer<AnyArms>; readonly recovery: Recovery | undefined };

export interface Buyer<R extends Release = Release> {
  /** The agent called. */
  readonly agentUrl: string;
  readonly tools: BuyerTools<R>;
  /** Calls a tool by a name known at run time only. An unknown one is a failed answer, `UNSUPPORTED_FEATURE`. */
  call(tool: string, request: JsonObject, options?: CallOptions): Promise<Called<AnyArms>>;
  /** What both sides have agreed on; asked for before the first call, and again after an hour. */
  agreement(options?: Pick<CallOptions, "signal">): Promise<Agreeing>;
  /** Whether the agent claims a specialism. False too where it could not be asked: `agreement` tells. */
  claims(specialism: keyof R["specialisms"] & string, options?: Pick<CallOptions, "signal">): Promise<boolean>;
  /** Names of the tools the agent lists. @throws what its transport throws */
  listed(options?: Pick<CallOptions, "signal">): Promise<readonly string[]>;
  /** Reads state instead of missed webhooks (service.md, "Persistent channels", 4). */
  readonly reconcile: Reconciler;
  /** Asks the agent for its capabilities again before the next call. */
  refresh(): void;
  /** Closes the connection. Calls under way end as they can. */
  close(): Promise<void>;
}

/**
 * Makes a buyer of one agent. Nothing is loaded or sent before the first call.
 * @throws AdbindError `buyer_option_invalid`
 */
export function createBuyerOn<R extends Release>(platform: BuyerPlatform, options: BuyerOptions<R>): Buyer<R> {
  const settings = checkedSettings(options, platform);
  const wire = createWire(settings);
  const exchange = createExchange({ settings, wire });
  const agreements = createAgreements({ settings, wire }, async (tool, release, signal) => {
    const call = { args: {}, push: undefined, contextId: undefined, signal };
    const asked = await repeat(settings, { signal, mayRepeat: () => true }, () => exchange.send(tool, release, call));
    return asked.outcome;
  });
  const parts: CallParts = { settings, exchange, agreements, judge: createJudge(settings) };
  const call: Buyer["call"] = (name, request, more = {}) => new ToolCalling(parts, name, request, more).run();
  const names = new Set(settings.releases.flatMap(({ tools }) => Object.keys(tools)));
  const tools: object = Object.fromEntries(
    [...names].map((name) => [name, (request: JsonObject, more?: CallOptions) => call(name, request, more)]),
  );
  return {
    agentUrl: settings.url,
    tools: tools as BuyerTools<R>,
    call,
    async agreement({ signal } = {}) {
      const agreeing = await agreements.get(signal);
      if (!agreeing.ok) return { ok: false, answer: agreeing.failure.answer, recovery: agreeing.failure.recovery };
      const { release, capabilities, idempotent } = agreeing.agreed;
      return { ok: true, agreement: { release, capabilities, idempotent } };
    },
    async claims(specialism, { signal } = {}) {
      const agreeing = await agreements.get(signal);
      const claimed = agreeing.ok ? list(member(agreeing.agreed.capabilities, "specialisms")) : [];
      return claimed.some((one) => typeof one === "string" && one.replaceAll("-", "_") === specialism);
    },
    listed: async ({ signal } = {}) => (await exchange.connection(signal)).tools(signal),
    reconcile: reconciler(parts, call),
    refresh: agreements.expire,
    async close() {
      await exchange.close();
      await settings.closeFetch?.();
    },
  };
}
