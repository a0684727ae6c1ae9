/** A buyer and the agent it calls, on every transport; time passes only where a test says so. */
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { type Agent, type AgentOptions, type Heard, type Says, startAgent } from "../support/agent.js";

export { release, release30 };

export const transports = ["mcp", "a2a 1.0", "a2a 0.3"] as const;
export type TransportKind = (typeof transports)[number];

export const capabilities = (more: JsonObject = {}, own: JsonObject = {}): JsonObject => ({
  status: "completed",
  proto: {
    major_versions: [3],
    supported_versions: ["3.0", "3.1"],
    idempotency: { supported: true, replay_ttl_seconds: 86_400 },
    ...own,
  },
  supported_protocols: ["media_buy"],
  ...more,
});

/** An error as both transports carry it. */
export const failing = (error: JsonObject): Says => ({
  payload: { status: "failed", errors: [error], proto_error: error },
  isError: true,
});

export interface Scene {
  readonly agent: Agent;
  readonly buyer: ReturnType<typeof createBuyer<typeof release>>;
  /** Milliseconds asked to be waited, in order. */
  readonly waits: number[];
  readonly clock: { ms: number };
  /** Calls of tools other than the capabilities. */
  calls(): Heard[];
  close(): Promise<void>;
}

export interface SceneOptions extends Partial<AgentOptions> {
  readonly kind?: TransportKind;
  readonly declares?: JsonObject | (() => Says);
  readonly buyer?: Partial<BuyerOptions<typeof release>>;
}

const isCapabilities = ({ tool }: Heard): boolean => tool === "get_agent_capabilities";

export async function scene({ kind = "mcp", declares, buyer: more, answer, ...rest }: SceneOptions): Promise<Scene> {
  const agent = await startAgent({
    a2a: kind === "mcp" ? false : (kind.slice(4) as "1.0" | "0.3"),
    ...rest,
    answer: (heard, count) => {
      if (isCapabilities(heard))
        return typeof declares === "function" ? declares() : { payload: declares ?? capabilities() };
      return answer?.(heard, count) ?? { payload: { status: "completed" } };
    },
  });
  const clock = { ms: 1_776_520_800_000 };
  const waits: number[] = [];
  const buyer = createBuyer({
    release,
    releases: [release30],
    agent: kind === "mcp" ? agent.mcp : agent.url,
    allowLocal: true,
    timeoutMs: 5_000,
    now: () => clock.ms,
    random: () => 0.5,
    pause: async (ms) => {
      waits.push(ms);
      clock.ms += ms;
    },
    ...more,
  });
  return {
    agent,
    buyer,
    waits,
    clock,
    calls: () => agent.heard.filter((one) => !isCapabilities(one)),
    async close() {
      await buyer.close();
      await agent.close();
    },
  };
}

/** As small as `create_media_buy` allows. */
export const order = {
  account: { account_id: "acc-1" },
  brand: { domain: "brand.example" },
  start_time: "asap",
  end_time: "2026-12-31T00:00:00Z",
  packages: [{ product_id: "p1", budget: 1000, pricing_option_id: "cpm" }],
} as never;

/** Runs a job with a scene of its own. */
export const withScene = async (options: SceneOptions, job: (made: Scene) => Promise<void>): Promise<void> => {
  const made = await scene(options);
  try {
    await job(made);
  } finally {
    await made.close();
  }
};
