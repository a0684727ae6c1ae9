/** What was charged when it was made: use of it is reported against that, for as long as somebody may. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

/** A price that was paid for one thing that was made. */
export interface Charge {
  /** The account that has paid; undefined where its request named none. */
  readonly account_id: string | undefined;
  readonly pricing_option_id: string;
  /** Major units of the currency. */
  readonly cost: number;
  /** ISO 4217. */
  readonly currency: string;
  /** The time whose use it was reported with, and by whom: it is owed once. */
  readonly reported?: { readonly start: string; readonly end: string; readonly owner: string };
}

const kept = collection<Charge>("charge");

/** Keeps what was charged for a thing, under its id. */
export const keepCharge = (call: BehaviourCall, id: string, charge: Charge): void =>
  kept.put(call, call.principal, id, charge);

export const chargeOf = (call: BehaviourCall, id: string): Promise<Charge | undefined> =>
  kept.get(call, call.principal, id);

/** Whether creatives are billed here at all: what makes them may have a price. */
export const billsCreatives = ({ served }: BehaviourCall): boolean => served.has("transformers");
