/** Whoever follows the feed while registries are killed: at the end its copy is what was published last, and nothing else. */
import { createRegistryData } from "../../runtime/registry/data.js";
import { pause } from "./registry-children.js";
import type { FaultsDatabase } from "./registry-database.js";

/** From one look at the feed to the next, in milliseconds: pages begin in the middle of whatever is being written. */
const LOOK_MS = 30;
const PAGE = 50;

interface Granted {
  readonly publisher_domain: string;
  readonly agent_url: string;
  readonly authorized_for?: string;
}

export interface FollowedFeed {
  /** Reads to the end. @returns what an agent may sell of a domain by the copy, by both */
  ended(): Promise<ReadonlyMap<string, string>>;
}

/** Follows from the beginning, one page after another by the cursor of the last. */
export async function followFeed(db: FaultsDatabase): Promise<FollowedFeed> {
  const store = await db.open();
  const data = createRegistryData(store);
  const copy = new Map<string, string>();
  let cursor: string | undefined;
  let stopping = false;
  const page = async (): Promise<boolean> => {
    const read = await data.feed({ cursor, types: ["authorization.*"], limit: PAGE });
    if (!read.ok) throw new Error(`the feed refuses its own cursor: ${read.reason}`);
    const { events, cursor: next, has_more: more } = read.value;
    cursor = next ?? cursor;
    for (const { event_type, payload } of events) {
      const { publisher_domain, agent_url, authorized_for } = payload as unknown as Granted;
      const name = `${publisher_domain} ${agent_url}`;
      if (event_type === "authorization.granted") copy.set(name, authorized_for ?? "");
      else copy.delete(name);
    }
    return more;
  };
  const following = (async () => {
    while (!stopping) if (!(await page())) await pause(LOOK_MS);
  })();
  // Whoever ends it is told.
  following.catch(() => undefined);
  return {
    async ended() {
      stopping = true;
      try {
        await following;
        while (await page());
        return copy;
      } finally {
        await store.close();
      }
    },
  };
}
