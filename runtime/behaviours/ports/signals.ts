/** Audiences and other signals that can be activated. */
import type { CallsUpstream } from "./upstream.js";

/** One way to pay, as the wire has it. */
export type SignalPricing = { readonly pricing_option_id: string; readonly currency: string } & (
  | { readonly model: "cpm"; readonly cpm: number }
  | { readonly model: "percent_of_media"; readonly percent: number; readonly max_cpm?: number }
  | { readonly model: "flat_fee"; readonly amount: number; readonly period: "monthly" | "quarterly" | "annual" }
);

/** Somebody else's data is named by its provider's catalogue; one's own by the agent. */
export type SignalOrigin =
  | { readonly catalog: "marketplace"; readonly domain: string; readonly id: string }
  | { readonly catalog: "owned"; readonly id: string };

/** What a signal says of somebody: yes or no, one of some, a number. */
export type SignalValue =
  | { readonly type: "binary" }
  | { readonly type: "categorical"; readonly categories: readonly string[] }
  | { readonly type: "numeric"; readonly min: number; readonly max: number };

/** A signal that can be bought and activated. */
export interface Signal {
  /** Key to activate it by. */
  readonly segmentId: string;
  readonly name: string;
  readonly description: string;
  /** Share of the audience it knows, in percent. */
  readonly coverage: number;
  readonly pricing: readonly [SignalPricing, ...SignalPricing[]];
  /** ISO 3166-1 alpha-2 codes; everywhere where left out. */
  readonly countries?: readonly string[];
  readonly provider: string;
  readonly origin: SignalOrigin;
  readonly value: SignalValue;
}

/** Where a signal is to be used. */
export interface SignalPlace {
  readonly type: "platform" | "agent";
  /** The platform's name, or the agent's URL. */
  readonly at: string;
  readonly account?: string;
}

/** Signals, and what is done to activate one. Yours to answer. */
export interface Signals extends CallsUpstream {
  signals(who: { readonly principal: string }): Promise<readonly Signal[]>;
  /** Brings a signal to a place; at least once with the same key. */
  activate?(signal: Signal, place: SignalPlace, call: { readonly idempotencyKey: string }): Promise<void>;
  deactivate?(signal: Signal, place: SignalPlace, call: { readonly idempotencyKey: string }): Promise<void>;
}

/** A fixed list of signals, active where somebody wants them at once. */
export const listedSignals = (signals: readonly Signal[]): Signals => ({ signals: async () => signals });
