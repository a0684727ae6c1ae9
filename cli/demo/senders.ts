/** Senders of the demo: their keys are found through the brand file each serves. */
import { release } from "../../generated/3.1.0/index.js";
import { discoveryRules } from "../../runtime/facts/index.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import type { SenderConfig } from "../../runtime/receiver/index.js";
import { brandKeys } from "../../runtime/signing/discovery/index.js";

export interface AgentPlace {
  readonly agentUrl: string;
  readonly brandUrl: string;
}

// Everything here is on loopback and without TLS; in production neither is allowed.
const fetch = createGuardedFetch({ allowHttp: true, allowLoopback: true });

/** @param now unix milliseconds */
export const sendersOf = (
  agents: readonly AgentPlace[],
  now: () => number = Date.now,
): Readonly<Record<string, SenderConfig>> =>
  Object.fromEntries(
    agents.map(({ agentUrl, brandUrl }) => [
      agentUrl,
      { keys: brandKeys({ agentUrl, brandUrl, fetch, rules: discoveryRules(release), now: () => now() / 1_000 }) },
    ]),
  );
