/** Puts the parts together: a release and an agent in, one typed method per tool out. */
import type { Answer, AnyArms, ArmsOf, Failure, JsonObject, Recovery, Release } from "../contract/index.js";
import { list, member } from "../extract/json-object.js";
import { repeat } from "./attempts.js";
import { ToolInvocation } from "./call.js";
import type { BuyerCallDependencies } from "./call-dependencies.js";
import { createExchange } from "./exchange.js";
import { type CapabilitiesOf, featureMissing, lackingFeatures } from "./features.js";
import type { Intent } from "./intent.js";
import { createIntents, keptOptions, keptRequest } from "./intents.js";
import { createMessageValidation } from "./message-validation.js";
import { createNegotiation, type Negotiation } from "./negotiation.js";
import type { BuyerPlatform } from "./platform.js";
import { type Reconciler, reconciler } from "./reconcile.js";
import { checkedBuyerSettings } from "./settings.js";
import type { BuyerOptions, BuyerTools, CallOptions, CallRequest, CallResult, NegotiatedRelease } from "./types.js";
import { createWire } from "./wire.js";

/** What both sides have agreed on, with the agent's declaration in the types of one's own newest release. */
export type TypedNegotiatedRelease<R extends Release> = Omit<NegotiatedRelease, "capabilities"> & {
  readonly capabilities: CapabilitiesOf<R> | null;
};

/** What came of agreeing with an agent on release, transport and signing. */
export type NegotiationResult<R extends Release = Release> =
  | { readonly ok: true; readonly negotiated: TypedNegotiatedRelease<R> }
  /** The failed call that showed it: `VERSION_UNSUPPORTED` where the two have no release in common. */
  | { readonly ok: false; readonly answer: Answer<AnyArms>; readonly recovery: Recovery | undefined };

/** Names that a release's bindings have; none of a release that was read at run time. */
type BoundTools<R extends Release> = string extends keyof R["tools"] ? never : keyof R["tools"] & string;

/** Calls one agent: a method for each tool, webhooks and polling included. */
export interface Buyer<R extends Release = Release> {
  /** The agent called. */
  readonly agentUrl: string;
  readonly tools: BuyerTools<R>;
  /** The same as `tools[tool](request, options)`. */
  call<N extends BoundTools<R>>(
    tool: N,
    request: CallRequest<R["tools"][N]>,
    options?: CallOptions,
  ): Promise<CallResult<ArmsOf<R["tools"][N]>>>;
  /** Calls a tool by a name known at run time only. An unknown one is a failed answer, `UNSUPPORTED_FEATURE`. */
  call(tool: string, request: JsonObject, options?: CallOptions): Promise<CallResult<AnyArms>>;
  /** What both sides have agreed on; asked for before the first call, and again after an hour. */
  negotiate(options?: Pick<CallOptions, "signal">): Promise<NegotiationResult<R>>;
  /**
   * What the agent declares, if it declares all of these: dotted paths, `media_buy.features.property_list_filtering`, whose last
   * name may be a word of a list, `specialisms.sales-guaranteed`.
   * @throws AdbindError `feature_missing`, with those that it lacks, or why it could not be asked
   */
  requireFeature(...features: readonly string[]): Promise<CapabilitiesOf<R>>;
  /** Whether the agent claims a specialism. False too where it could not be asked: `negotiate` tells. */
  claims(specialism: keyof R["specialisms"] & string, options?: Pick<CallOptions, "signal">): Promise<boolean>;
  /** Names of the tools the agent lists. @throws what its transport throws */
  listed(options?: Pick<CallOptions, "signal">): Promise<readonly string[]>;
  /** Reads state instead of missed webhooks (docs/protocol/webhooks.md#recovery). */
  readonly reconcile: Reconciler;
  /** Calls that had not ended when they were last heard of, oldest first: what `intents` keep for this agent. */
  readonly unfinished: {
    list(): Promise<readonly Intent[]>;
    /** Forgets one, which is then not carried on. */
    drop(idempotencyKey: string): Promise<void>;
  };
  /**
   * Carries on what a crash left: each unfinished call is made again with its key and payload, so that an agent which has done
   * it says what came of it. What its agent would not know again is not sent: where it had named a task, that is given back
   * as `submitted`, to be waited for; else a failure, `INTENT_NOT_REPEATABLE`. A call whose question was
   * answered goes on as that answer; a question that its task has left meanwhile is not asked again, and one that a
   * wait was told is, though its agent says no more of it; what another process has carried to its end meanwhile is not among what comes back.
   */
  resume(options?: Pick<CallOptions, "signal" | "deadlineMs">): Promise<readonly CallResult<AnyArms>[]>;
  /** Asks the agent for its capabilities again before the next call. */
  refresh(): void;
  /** Closes the connection. Calls under way end as they can. */
  close(): Promise<void>;
}

/** What the agent says of itself. */
const declarations = <R extends Release>(
  url: string,
  negotiation: Negotiation,
): Pick<Buyer<R>, "negotiate" | "requireFeature"> => ({
  async negotiate({ signal } = {}) {
    const result = await negotiation.get(signal);
    if (!result.ok) return { ok: false, answer: result.failure.answer, recovery: result.failure.recovery };
    const { release, capabilities, idempotent } = result.pinned;
    return { ok: true, negotiated: { release, capabilities: capabilities as CapabilitiesOf<R> | null, idempotent } };
  },
  async requireFeature(...features) {
    const result = await negotiation.get(undefined);
    if (!result.ok) {
      const [error] = (result.failure.answer.data as Failure).errors;
      throw featureMissing(url, `the agent could not be asked: ${error?.message}`, "see what negotiate() says");
    }
    const { capabilities } = result.pinned;
    const lacking = lackingFeatures(capabilities, features);
    if (lacking.length === 0) return capabilities as CapabilitiesOf<R>;
    throw featureMissing(url, `the agent does not declare ${lacking.join(", ")}`, "ask another, or do without");
  },
});

/** What was not over when it was last heard of. */
const carriedOn = (dependencies: BuyerCallDependencies): Pick<Buyer, "unfinished" | "resume"> => ({
  unfinished: {
    list: async () => (await dependencies.intents?.list()) ?? [],
    drop: async (key) => dependencies.intents?.drop(key),
  },
  async resume(more = {}) {
    const calls: CallResult<AnyArms>[] = [];
    // One by one and in their order: a later call may lean on an earlier one.
    for (const { idempotencyKey } of (await dependencies.intents?.list()) ?? []) {
      // While those before it were made, another process may have carried it on, or to its end.
      const again = await dependencies.intents?.get(idempotencyKey);
      // What was answered to its question is carried on instead: the seller may have that, and is given no other.
      if (again === undefined || again.answeredBy !== undefined) continue;
      const options = { ...more, ...keptOptions(again) };
      const invocation = new ToolInvocation(dependencies, again.tool, keptRequest(again), options);
      const called = await invocation.run();
      if (invocation.isOurs) calls.push(called);
    }
    return calls;
  },
});

/**
 * Makes a buyer of one agent. Nothing is loaded or sent before the first call.
 * @throws AdbindError `buyer_option_invalid`
 */
export function createBuyerOn<R extends Release>(platform: BuyerPlatform, options: BuyerOptions<R>): Buyer<R> {
  const settings = checkedBuyerSettings(options, platform);
  const wire = createWire(settings);
  const exchange = createExchange({ settings, wire });
  const negotiation = createNegotiation({ settings, wire }, async (tool, release, pin, signal) => {
    const call = { args: pin ?? {}, push: undefined, contextId: undefined, signal };
    const asked = await repeat(settings, { signal, mayRepeat: () => true }, () => exchange.send(tool, release, call));
    return asked.outcome;
  });
  const dependencies: BuyerCallDependencies = {
    settings,
    exchange,
    negotiation,
    validation: createMessageValidation(settings),
    intents: createIntents(settings),
  };
  const call = async (name: string, request: JsonObject, more: CallOptions = {}): Promise<CallResult<AnyArms>> => {
    const { inCallSpan } = await import("./tracing.js");
    const { tracer, url } = settings;
    return inCallSpan(tracer, { tool: name, url }, () => new ToolInvocation(dependencies, name, request, more).run());
  };
  const names = new Set(settings.releases.flatMap(({ tools }) => Object.keys(tools)));
  const tools: object = Object.fromEntries(
    [...names].map((name) => [name, (request: JsonObject, more?: CallOptions) => call(name, request, more)]),
  );
  return {
    agentUrl: settings.url,
    tools: tools as BuyerTools<R>,
    call: call as Buyer<R>["call"],
    ...declarations<R>(settings.url, negotiation),
    async claims(specialism, { signal } = {}) {
      const result = await negotiation.get(signal);
      const claimed = result.ok ? list(member(result.pinned.capabilities, "specialisms")) : [];
      return claimed.some((one) => typeof one === "string" && one.replaceAll("-", "_") === specialism);
    },
    listed: async ({ signal } = {}) => (await exchange.connection(signal)).tools(signal),
    reconcile: reconciler(dependencies, call),
    ...carriedOn(dependencies),
    refresh: negotiation.expire,
    async close() {
      await exchange.close();
      await settings.closeFetch?.();
    },
  };
}
