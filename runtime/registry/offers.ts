/**
 * Publishers' properties as expansions need them. Reading them is most of an expansion's work, so those that are asked for
 * again are kept, as long as what their sources said stays the same.
 */
import { LRUCache } from "lru-cache";
import type { Coroutine } from "../db/coroutine.js";
import type { Statements } from "../db/types.js";
import { AdbindError } from "../errors.js";
import {
  type OfferedRow,
  type OfferingRow,
  offeredProperties,
  offerings,
  unpackedEdges,
  unpackedProperties,
} from "../store/registry-offerings.js";
import type { EdgeRow } from "../store/registry-publishers.js";
import { FreshOffers, KeptOffers, type Offered } from "./offered.js";

/** Most characters of answers kept: fifty thousand usual properties, and some 50 MB with what hangs on them. */
const KEPT_LIMIT_CHARACTERS = 20_000_000;

/** Publishers remembered for having been asked for. */
const REMEMBERED_PUBLISHERS = 20_000;

/** Most properties read for one request; an answer with them all has some 60 MB. */
const READING_LIMIT = 200_000;

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

  /** Publishers asked for once. What is asked for but once would be kept for nothing, and cost the collector more. */
  readonly #asked = new LRUCache<string, true>({ max: REMEMBERED_PUBLISHERS });

  /**
   * Those of some publishers that are known, in no order, as they are at one time.
   * @param take works on one while the database looks for the next; what it throws ends the question
   * @throws AdbindError `registry_data_invalid` when they have too many properties to be read at once
   */
  *of(q: Statements, { agentUrl, domains }: OffersQuery, take: (offering: Offering) => void): Coroutine<void> {
    const kept = new Map(domains.map((domain) => [domain, this.#kept.get(domain)]));
    const known = new Map(domains.map((domain) => [domain, kept.get(domain)?.state ?? ""]));
    const unread: OfferingRow[] = [];
    const tell = (row: OfferingRow, offered: Offered): void =>
      take({ domain: row.domain, valid: row.valid === 1, offered, edges: unpackedEdges(row) });
    yield* offerings(q, { agentUrl, known, limit: READING_LIMIT }, (row) => {
      if (row.read > READING_LIMIT) throw tooMuch();
      const before = kept.get(row.domain);
      if (before?.state === row.state) return tell(row, before.offered);
      const properties = unpackedProperties(row);
      if (properties === undefined) unread.push(row);
      else tell(row, this.#made(row, properties));
    });
    for (const row of unread) tell(row, this.#made(row, yield* offeredProperties(q, row.id)));
  }

  #made(row: OfferingRow, properties: readonly OfferedRow[]): Offered {
    const { domain, valid, state } = row;
    const fresh = new FreshOffers(domain, properties, valid === 1);
    if (!this.#asked.has(domain)) {
      this.#asked.set(domain, true);
      return fresh;
    }
    const offered = new KeptOffers(fresh);
    this.#kept.set(domain, { offered, state });
    return offered;
  }
}
