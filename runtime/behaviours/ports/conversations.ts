/** Conversations with a brand inside somebody's assistant: who answers, what is offered, and how what is bought is paid. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** Something the brand talks about. */
export interface BrandOffering {
  readonly offering_id: string;
  readonly title: string;
  readonly summary?: string;
  readonly tagline?: string;
  /** ISO 8601; it is not offered afterwards. */
  readonly expires_at?: string;
  /** For people: `from $199`. */
  readonly price_hint?: string;
  readonly image_url?: string;
  readonly landing_url?: string;
  /** Why it is not offered now: `sold_out`, `region_restricted`, `inactive`; it is where left out. */
  readonly unavailable?: string;
  /** Offerings to look at instead. */
  readonly alternatives?: readonly string[];
}

/** A product of an offering, as it is shown to a person. */
export interface BrandProduct {
  readonly product_id: string;
  readonly name: string;
  /** `$129` */
  readonly price?: string;
  readonly original_price?: string;
  readonly image_url?: string;
  readonly availability_summary?: string;
  readonly url?: string;
}

/** Who pays for what is said, what the host may do with it, and what has to be disclosed. */
export interface Sponsorship {
  readonly payer: { readonly domain: string; readonly name?: string };
  /** `presentation_only`: it is shown as it is; `comparison_set` and `reasoning_context` let it shape the host's own answers. */
  readonly use: "presentation_only" | "comparison_set" | "reasoning_context";
  readonly disclosure: {
    readonly required: boolean;
    readonly label?: string;
    readonly timing?: "before_use" | "at_first_influenced_output" | "near_each_influenced_output";
    readonly proximity?: "session_level" | "near_rendered_unit" | "near_influenced_output";
  };
}

/** What a person has agreed to share: nothing where he has not. */
export interface SharedIdentity {
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly locale?: string;
  readonly shipping_address?: JsonObject;
}

/** One thing that was said. */
export interface Utterance {
  readonly from: "user" | "brand";
  readonly text: string;
  /** ISO 8601 */
  readonly at: string;
}

/** A conversation as it stands. */
export interface Conversation {
  readonly sessionId: string;
  /** The host that calls. */
  readonly principal: string;
  /** What the person wanted when it began, in words. */
  readonly intent: string;
  readonly offeringId?: string;
  /** Products that the person was shown before it began, in that order. */
  readonly shown: readonly string[];
  readonly mediaBuyId?: string;
  readonly placement?: string;
  readonly user: SharedIdentity;
  /** What both sides can do, as `si-capabilities.json` has it. */
  readonly capabilities: JsonObject;
  /** What was said last, oldest first. */
  readonly said: readonly Utterance[];
}

/** One turn of a conversation: what was said, and by whom. */
export interface ConversationTurn {
  readonly conversation: Conversation;
  /** What the person says now; undefined at the beginning, and where he used a button. */
  readonly message?: string;
  /** A button of an earlier answer that was used. */
  readonly action?: { readonly action: string; readonly payload?: JsonObject };
}

/** What is about to be bought. */
export interface PurchaseIntent {
  /** `purchase`, `subscribe` */
  readonly action: string;
  readonly product?: JsonObject;
  readonly price?: { readonly amount: number; readonly currency: string };
}

/** What a brand says in a conversation. */
export interface BrandReply {
  readonly message: string;
  /** As `si-ui-element.json` has them; those that the host cannot show are left out. */
  readonly elements?: readonly JsonObject[];
  /** The host takes over: to buy something, or since all is said. */
  readonly handoff?:
    | { readonly type: "complete" }
    | {
        readonly type: "transaction";
        readonly intent: PurchaseIntent;
        readonly summary?: string;
        readonly offers?: readonly string[];
      };
}

/** Where a purchase goes on. */
export interface ConversationCheckout {
  /** https */
  readonly url: string;
  readonly token?: string;
  readonly payload?: JsonObject;
  /** ISO 8601 */
  readonly expires_at?: string;
}

/** Speaks for brands in conversations. Yours to answer. */
export interface ConversationsPort extends CallsUpstream {
  /** What the brand's side can do, as `si-capabilities.json` has it; declared. */
  readonly capabilities: JsonObject;
  /** Where brand.json of the brand is; declared. */
  readonly brandUrl?: string;
  readonly sponsorship: Sponsorship;
  /** Seconds without a message after which a conversation is over. */
  readonly idleSeconds: number;
  /** Undefined for one that the brand does not have. */
  offering(id: string, who: { readonly principal: string }): Promise<BrandOffering | undefined>;
  /** Products of an offering, those that suit the intent best first. */
  products(offering: BrandOffering, intent: string | undefined): Promise<readonly BrandProduct[]>;
  /**
   * Answers. It is asked again where the same host has sent two messages at once, or where the answer was lost: under the same
   * key.
   */
  reply(turn: ConversationTurn, call: { readonly idempotencyKey: string }): Promise<BrandReply>;
  /** Where a purchase goes on; nobody can buy where it is left out. Asked at least once under the same key. */
  checkout?(
    conversation: Conversation,
    intent: PurchaseIntent | undefined,
    call: { readonly idempotencyKey: string },
  ): Promise<ConversationCheckout | undefined>;
}
