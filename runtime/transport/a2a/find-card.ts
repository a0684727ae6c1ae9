/** An agent's card, by the URL that the agent is known by. */
import type { AgentCard } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { WireFault } from "../fault.js";
import { CARD_PATHS } from "./card.js";

const [, OLDER] = CARD_PATHS;

/** Below the agent's own URL, then at the root of its host, which may have several agents; a card's own URL is taken as it is. */
function placesOf(url: string): readonly string[] {
  const { origin, pathname } = new URL(url);
  if (CARD_PATHS.some((path) => pathname.endsWith(path)) || /\/agent-card\.json$/.test(pathname)) return [url];
  const roots = [`${origin}${pathname.replace(/\/+$/, "")}`, origin];
  return [...new Set(roots.flatMap((root) => CARD_PATHS.map((path) => `${root}${path}`)))];
}

/** Whether an answer says that no card is there. One that says nothing of it may hide the agent's own: the root's is not taken then. */
const isNone = (status: number | undefined): boolean =>
  status !== undefined && (status < 400 || status === 404 || status === 405 || status === 410);

const isCard = (found: AgentCard | undefined): found is AgentCard =>
  Array.isArray(found?.skills) && (found.supportedInterfaces ?? []).every((one) => typeof one?.url === "string");

/** @throws Error where there is none, or where that cannot be told */
export async function findCard(url: string, fetchImpl: typeof globalThis.fetch): Promise<AgentCard> {
  const places = placesOf(url);
  let told: unknown;
  for (const [index, at] of places.entries()) {
    let status: number | undefined;
    const noting: typeof globalThis.fetch = async (...asked) => {
      const response = await fetchImpl(...asked);
      status = response.status;
      return response;
    };
    const none = (): Error =>
      new Error(`what ${at} answers is no agent card: it lists no skills, or places that are none`);
    try {
      const resolver = new DefaultAgentCardResolver({ fetchImpl: noting, legacyCompat: { enabled: true } });
      const found = await resolver.resolve(at, "");
      if (!isCard(found)) throw none();
      return found;
    } catch (error) {
      const answered = error instanceof WireFault ? error.status : status;
      // An SDK that looks into what is not there says so of its own code.
      const known = error instanceof TypeError && error.cause === undefined && status !== undefined ? none() : error;
      // Of the older place it is no news that nothing is there.
      if (told === undefined || !at.endsWith(OLDER) || !isNone(answered)) told = known;
      if (index === places.length - 1 || !isNone(answered)) throw told;
    }
  }
  throw new Error("an agent's card has a place");
}
