/** A buyer with a receiver of its own, before an agent that a test speaks for. */
import { createCompletions } from "../../runtime/buyer/index.js";
import type { ReceivedEvent } from "../../runtime/receiver/index.js";
import type { Heard, Says } from "../support/agent.js";
import { PUBLIC_URL, SELLER, type Setup, setup } from "../support/receiver.js";
import { type Scene, type SceneOptions, scene } from "./fixtures.js";

export interface Hooked {
  readonly made: Scene;
  readonly hooks: Setup;
  /** What handlers were given. */
  readonly seen: ReceivedEvent[];
}

interface HookedOptions extends Omit<SceneOptions, "answer"> {
  /** Its handlers go through completions. */
  readonly remembers?: boolean;
}

/** Runs a job with both. */
export async function hooked(
  says: (heard: Heard, parts: Hooked) => Says | Promise<Says>,
  job: (parts: Hooked) => Promise<void>,
  { remembers = false, buyer = {}, ...more }: HookedOptions = {},
): Promise<void> {
  const completions = createCompletions();
  const seen: ReceivedEvent[] = [];
  const fallback = (delivery: ReceivedEvent): void => void seen.push(delivery);
  const hooks = await setup({ handlers: remembers ? completions.through({ fallback }) : { fallback } });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER, completions };
  const parts = { hooks, seen } as unknown as { -readonly [K in keyof Hooked]: Hooked[K] };
  parts.made = await scene({ answer: (heard) => says(heard, parts), buyer: { webhooks, ...buyer }, ...more });
  // A watch keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  try {
    await job(parts);
  } finally {
    clearInterval(alive);
    await parts.made.close();
    await hooks.close();
  }
}
