/** Who is asked before an account's money is committed. */
import type { JsonObject } from "../../contract/index.js";
import { createAskAgent } from "../../seller/ask-agent.js";
import type { CallsUpstream } from "./upstream.js";

/** A governance agent that an account's buyer has registered, and what it is asked. */
export interface GovernanceQuestion {
  readonly url: string;
  /** As its buyer gave it with `sync_governance`. */
  readonly bearer?: string | undefined;
  /** The request of `check_governance`, in the release of the call. */
  readonly request: JsonObject;
  /** The protocol's. */
  readonly word: string;
}

/** Asks governance agents whether something may be done. Yours to answer. */
export interface GovernancePort extends CallsUpstream {
  /** The answer of the agent's `check_governance`. Anything thrown means that nobody knows; then no money is committed. */
  check(question: GovernanceQuestion): Promise<JsonObject>;
}

/** Milliseconds for one agent: a buyer waits for the order meanwhile. */
const PATIENCE_MS = 10_000;

/** How governance agents are asked. `patienceMs`: how long an answer is waited for. */
export interface AskedGovernanceOptions {
  /** What may be reached; public hosts by https, where nothing is said. */
  readonly net?: Parameters<typeof createAskAgent>[0];
  /** For one agent, in milliseconds; ten seconds by default. */
  readonly patienceMs?: number;
}

/** Asks the agent itself, over whichever transport it speaks. */
export function askedGovernance({ net = {}, patienceMs = PATIENCE_MS }: AskedGovernanceOptions = {}): GovernancePort {
  const ask = createAskAgent(net);
  return {
    // Whoever asks gives up by himself: this is for what he does about it.
    patienceMs: patienceMs + 1_000,
    check: ({ url, bearer, request, word }) =>
      ask({ url, bearer, word, tool: "check_governance", args: request, timeoutMs: patienceMs }),
  };
}
