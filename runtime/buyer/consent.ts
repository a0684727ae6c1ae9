/** What an application says of who must agree to a call, and of what is taken without asking a person. Off unless given. */
import type { Answer, AnyArms, JsonObject, MaybePromise, Release } from "../contract/index.js";

/** What is used of a buyer of a governance agent: `createBuyer({ release, agent })` is one. */
export interface Governor {
  call(
    tool: string,
    request: JsonObject,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly answer: Answer<AnyArms> }>;
  negotiate(): Promise<
    { readonly ok: true; readonly negotiated: { readonly release: Release } } | { readonly ok: false }
  >;
}

/** Which governance agent is asked before money is committed. */
export interface GovernanceOptions {
  readonly agent: Governor;
  /** URL that the caller is known by to the agent. */
  readonly caller: string;
  /**
   * Under which plan a call that changes something is checked: `plan_id`, and what else the check is to say, such as
   * `proposed_commitment`; undefined for a call that needs no leave. Asked anew when conditions have changed the request.
   */
  check(call: {
    readonly tool: string;
    readonly request: JsonObject;
  }): MaybePromise<{ readonly plan_id: string; readonly [more: string]: unknown } | undefined>;
}

/** What the buyer takes without asking a person; nothing by default. */
export interface AcceptanceOptions {
  /** Whether conditions of a governance agent are taken: the request is changed as they say, checked again, and sent. */
  conditions?(asked: {
    readonly tool: string;
    readonly request: JsonObject;
    /** `field`, `required_value` and `reason` each. */
    readonly conditions: readonly JsonObject[];
  }): MaybePromise<boolean>;
  /**
   * What `waitForCompletion` answers to a task that asks something (`input-required`): members to lay over the request; undefined gives the
   * question to the caller.
   */
  questions?(asked: {
    readonly tool: string;
    readonly request: JsonObject;
    readonly data: unknown;
    readonly message: string | undefined;
  }): MaybePromise<JsonObject | undefined>;
}
