/**
 * Publishers' properties as expansions need them. Reading them is most of an expansion's work, so those that are asked for
 * again are kept, as long as what their sources said stays the same.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Database } from "../db/types.js";
import { AdbindError } from "../errors.js";
import {
  type OfferedRow,
  type OfferingRow,
  offeredAfter,
  offeringState,
  offerings,
  unpackedEdges,
  unpackedProperties,
} from "../store/registry-offerings.js";
import type { EdgeRow } from "../store/registry-publishers.js";
import { FreshOffers, KeptOffers, type Offered } from "./offered.js";
import { inTurns, LargeWork, type Steps, untilDone } from "./steps.js";

/** Most characters of answers kept: fifty thousand usual properties, and some 50 MB with what hangs on them. */
const KEPT_LIMIT_CHARACTERS = 20_000_000;

/** Publishers remembered for having been asked for. */
const REMEMBERED_PUBLISHERS = 20_000;

/** Most properties read for one request; an answer with them all has some 60 MB. */
const READING_LIMIT = 200_000;

/** Properties worked on as the database tells of them; those of more publishers, or of a larger one, wait for their turn. */
const AT_ONCE_PROPERTIES = 4_000;
/** Properties of one publisher that are read with those of others, and all that are read so: a file's database does nothing else then. */
const SMALL_PROPERTIES = 4_000;
const TOGETHER_PROPERTIES = 50_000;
/** Of a larger publisher so many are read at a time. */
const PAGE_PROPERTIES = 2_000;
/** Requests about so many that they take turns are worked on two at a time: one works while the other waits for the database. */
const LARGE_AT_ONCE = 2;
/** How often a publisher is read anew that changes while it is read. */
const READ_AGAIN = 5;

/** A publisher as one agent meets it. */
export interface Offering {
  readonly domain: string;
  /** Whether its own file is. */
  readonly valid: boolean;
  readonly offered: Offered;
  /** The agent's. */
  readonly edges: readonly Pick<EdgeRow, "source" | "entries">[];
}

export interface OffersQuery {
  readonly agentUrl: string;
  /** Each once. */
  readonly domains: readonly string[];
  /** Who asks: where much is to be done, callers take turns. */
  readonly by: string;
}

interface Kept {
  readonly offered: KeptOffers;
  /** What the offers were made of. */
  readonly state: string;
}

export const tooMuch = (): AdbindError =>
  new AdbindError("registry_data_invalid", "the selectors ask for too much at once", {
    remedy: "ask for fewer of them at a time",
  });

/** The properties that count of some publishers. */
export class Offers {
  /** By domain. */
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: KEPT_LIMIT_CHARACTERS,
    sizeCalculation: ({ state, offered }) => state.length + offered.characters,
  });

  /**
   * Publishers asked for once, with the state in which they are too large to be kept. What is asked for but once would be kept for
   * nothing, and cost the collector more.
   */
  readonly #asked = new LRUCache<string, string>({ max: REMEMBERED_PUBLISHERS });
  readonly #largeWork = new LargeWork(LARGE_AT_ONCE);

  /**
   * Those of some publishers that are known, in no order, each as it is at one time.
   * @param take works on one; what it throws ends the question
   * @throws AdbindError `registry_data_invalid` when they have too many properties to be read at once,
   * `registry_busy` when too many other questions about as much wait already
   */
  async of(db: Database, asked: OffersQuery, take: (offering: Offering) => Steps<void>): Promise<void> {
    let { domains } = asked;
    for (let again = 0; domains.length > 0; again++) {
      const left = await this.#some(db, { ...asked, domains }, { take, first: again === 0 });
      // Whoever changes a large file all the time is not waited for: the others are, which there was no room for.
      if (again >= READ_AGAIN && left.length === domains.length) throw tooMuch();
      domains = left;
    }
  }

  /** @returns those that are to be asked for again */
  async #some(
    db: Database,
    { agentUrl, domains, by }: OffersQuery,
    { take, first }: { readonly take: (offering: Offering) => Steps<void>; readonly first: boolean },
  ): Promise<string[]> {
    const kept = new Map(domains.map((domain) => [domain, this.#kept.get(domain)]));
    const known = new Map(domains.map((domain) => [domain, kept.get(domain)?.state ?? ""]));
    const tell = (row: OfferingRow, offered: Offered): Steps<void> =>
      take({ domain: row.domain, valid: row.valid === 1, offered, edges: unpackedEdges(row) });
    const later: (() => Steps<void>)[] = [];
    const [large, left]: [OfferingRow[], string[]] = [[], []];
    let room = AT_ONCE_PROPERTIES;
    const asked = { agentUrl, known, limit: TOGETHER_PROPERTIES, largest: SMALL_PROPERTIES };
    await db.query((q) =>
      offerings(q, asked, (row) => {
        if (first && row.read > READING_LIMIT) throw tooMuch();
        const before = kept.get(row.domain);
        const same = before?.state === row.state ? before.offered : undefined;
        if (same === undefined && row.property_count > SMALL_PROPERTIES) return void large.push(row);
        if (same === undefined && row.read > TOGETHER_PROPERTIES) return void left.push(row.domain);
        const made = this;
        function* work(): Steps<void> {
          const properties = same === undefined ? unpackedProperties(row) : [];
          // It has a text with what stands between texts.
          if (properties === undefined) return void large.push(row);
          yield* tell(row, same ?? (yield* made.#made(row, properties)));
        }
        room -= row.property_count;
        if (room < 0) later.push(work);
        else untilDone(work());
      }),
    );
    if (later.length + large.length === 0) return left;
    return this.#largeWork.run(by, async () => {
      for (const work of later) await inTurns(work());
      for (const row of large) {
        const properties = await readInPages(db, row);
        if (properties === undefined) left.push(row.domain);
        else await inTurns(tell(row, await inTurns(this.#made(row, properties))));
      }
      return left;
    });
  }

  *#made(row: OfferingRow, properties: readonly OfferedRow[]): Steps<Offered> {
    const { domain, valid, state } = row;
    const fresh = yield* FreshOffers.of(domain, properties, valid === 1);
    const tooLarge = this.#asked.get(domain);
    if (tooLarge === undefined) this.#asked.set(domain, "");
    if (tooLarge === undefined || tooLarge === state) return fresh;
    const offered = yield* KeptOffers.of(fresh, KEPT_LIMIT_CHARACTERS - state.length);
    if (offered === undefined) {
      this.#asked.set(domain, state);
      return fresh;
    }
    this.#kept.set(domain, { offered, state });
    return offered;
  }
}

/** All properties of a publisher, some at a time. @returns undefined where it has changed meanwhile */
async function readInPages(db: Database, { id, state }: OfferingRow): Promise<readonly OfferedRow[] | undefined> {
  const properties: OfferedRow[] = [];
  for (let page: OfferedRow[] | undefined; page === undefined || page.length === PAGE_PROPERTIES; ) {
    const after = properties.at(-1) ?? ({ source: "", key: "" } as const);
    page = await db.query((q) => offeredAfter(q, id, after, PAGE_PROPERTIES));
    for (const one of page) properties.push(one);
    await nextTurn();
  }
  return (await db.query((q) => offeringState(q, id))) === state ? properties : undefined;
}
