/** Signals that a buyer wants to choose on a product, and whether the product lets it. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";

/** A name of either form: the older says `id` where the newer says `signal_id`. */
interface SignalIdentity {
  readonly signal_id?: string;
  readonly id?: string;
  readonly data_provider_domain?: string;
  readonly signal_source_url?: string;
  readonly agent_url?: string;
}

interface Named {
  readonly signal_ref?: SignalIdentity;
  readonly signal_id?: SignalIdentity;
}

export interface WantedSignal extends Named {
  readonly targeting_mode?: string;
}

interface SignalOption extends Named {
  readonly allowed_targeting_modes?: readonly string[];
}

/** Signals of a provider: all of them, or those that are named. */
interface Bundle {
  readonly data_provider_domain?: string;
  readonly selection_type?: string;
  readonly signal_ids?: readonly string[];
}

const identityOf = ({ signal_ref: ref, signal_id: older }: Named): SignalIdentity => ref ?? older ?? {};
const idOf = (one: SignalIdentity): string | undefined => one.signal_id ?? one.id;
const sourceOf = (one: SignalIdentity): string | undefined =>
  one.data_provider_domain ?? one.signal_source_url ?? one.agent_url;

const isSame = (a: SignalIdentity, b: SignalIdentity): boolean => idOf(a) === idOf(b) && sourceOf(a) === sourceOf(b);

const isBundled = (bundles: readonly Bundle[], wanted: SignalIdentity): boolean =>
  bundles.some(
    ({ data_provider_domain: domain, selection_type: type, signal_ids: ids }) =>
      domain === wanted.data_provider_domain && (type !== "by_id" || ids?.includes(idOf(wanted) ?? "") === true),
  );

/** Can all of them be chosen, and together? Where a product lists none, they are those that the seller has. */
export function hasSignals(call: BehaviourCall, { more = {} }: Product, wanted: readonly WantedSignal[]): boolean {
  if (more.signal_targeting_allowed !== true) return false;
  // Releases without options have them by their providers.
  if (!call.shapes.answer("get_products").has("products", "*", "signal_targeting_options"))
    return wanted.every((one) => isBundled(itemsIn<Bundle>(more.data_provider_signals), identityOf(one)));
  const { selection_mode: mode, max_selected_signals: most } = (more.signal_targeting_rules ?? {}) as JsonObject;
  if (mode === "fixed" || (typeof most === "number" && wanted.length > most)) return false;
  if (more.signal_targeting_options === undefined) return call.served.has("signals");
  const options = itemsIn<SignalOption>(more.signal_targeting_options);
  return wanted.every(({ targeting_mode = "include", ...named }) =>
    options.some(
      (option) =>
        isSame(identityOf(option), identityOf(named)) &&
        (option.allowed_targeting_modes ?? ["include"]).includes(targeting_mode),
    ),
  );
}
