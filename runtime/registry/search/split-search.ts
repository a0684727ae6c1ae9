/**
 * Agent search in an index that is split by a hash of the agent: every part is asked at once, and what they found is merged in
 * the one order that depends on no query and no part. The database's clock is asked here, once for all parts: what could be seen
 * when the question came is in the answer, as with an index in one piece.
 *
 * A part that does not answer is named in the answer. The cursor then says where that part stands, which is further back than the
 * others do: the first page that it answers again begins with what it had not shown. So a traversal still shows each agent
 * exactly once, in the ranking's order but for those that come late.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { storeIdentity } from "../../store/identity.js";
import { clock } from "../../store/registry-clock.js";
import type {
  AgentProfile,
  AgentSearchResult,
  Page,
  PageRequest,
  SearchFilters,
  SearchPartState,
  SearchParts,
} from "../types.js";
import { compareKeys, type Key } from "./agent-index.js";
import { formatCursor, parseCursor, type TraversalPlace } from "./cursor.js";
import { type AskedOf, type PartClient, type PartReply, partClient } from "./part-client.js";
import { type Answers, type AnswerTo, agentOfHit, MOST_PARTS, type PartQuestion, type WireHit } from "./part-wire.js";
import { type AgentSearch, agentProfile } from "./search.js";
import { type AskParts, splitFacets, splitMarketMap } from "./split-facets.js";

interface SplitOptions extends SearchParts {
  readonly store: Database;
  readonly discovered: boolean;
}

const DEADLINE_MS = 1_000;
/** How often parts are asked whether they have read their index, in milliseconds. */
const WARM_MS = 200;

function clientsOf({ urls, token, deadlineMs = DEADLINE_MS, onAnswer }: SearchParts): PartClient[] {
  const wrong = urls.find((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
  if (wrong !== undefined || urls.length === 0 || urls.length > MOST_PARTS)
    throw new AdbindError("registry_option_invalid", "the search's parts cannot be used", {
      where: wrong ?? `${urls.length} parts`,
      remedy: `give up to ${MOST_PARTS} addresses such as http://10.0.0.5:8090, the first of part 1`,
    });
  const of = urls.length;
  return urls.map((url, at) => partClient({ url, part: { part: at + 1, of }, token, deadlineMs, onAnswer }));
}

/** What a part found, by its number. */
type Found = ReadonlyMap<number, readonly WireHit[]>;

const keyOf = ([score, url]: WireHit): Key => ({ score, url });
const further = (a: Key | undefined, b: Key | undefined): Key | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  return compareKeys(a, b) < 0 ? b : a;
};
const same = (a: Key | undefined, b: Key | undefined): boolean =>
  a === undefined || b === undefined ? a === b : compareKeys(a, b) === 0;

/** Where a part stands in a traversal. */
const placeOf = (place: TraversalPlace | undefined, part: number): Key | undefined =>
  place?.waiting?.parts.has(part) ? place.waiting.parts.get(part) : place?.after;

/** Where the traversal stands after a page. @param last the last agent of the page */
function placeAfter(
  before: TraversalPlace | undefined,
  found: Found,
  page: { seq: number; of: number; last?: Key },
): TraversalPlace {
  const { seq, of, last } = page;
  const after = further(before?.after, last);
  const parts = new Map<number, Key | undefined>();
  for (let part = 1; part <= of; part++) {
    const stood = placeOf(before, part);
    const stands = found.has(part) ? further(stood, last) : stood;
    if (!same(stands, after)) parts.set(part, stands);
  }
  // Where nothing was shown yet there is no place to tell, and the parts that are waited for are told by it.
  return { seq, after, ...((parts.size > 0 || after === undefined) && { waiting: { of, parts } }) };
}

class SplitSearch {
  readonly #clients: readonly PartClient[];
  readonly #store: Database;
  readonly #discovered: boolean;
  #identity: string | undefined;

  constructor(options: SplitOptions) {
    this.#clients = clientsOf(options);
    this.#store = options.store;
    this.#discovered = options.discovered;
  }

  /** Never changes: it is asked for once. */
  async #own(): Promise<string> {
    this.#identity ??= await storeIdentity(this.#store);
    return this.#identity;
  }

  /** What every part is asked for: what can be seen now, in this database. */
  async #now(): Promise<Required<AskedOf>> {
    const [at, store] = await Promise.all([this.#store.query((q) => clock(q)), this.#own()]);
    return { at, store };
  }

  /** A part tells its state also while this database is away. */
  async #states(): Promise<PartReply<Answers["state"]>[]> {
    const store = await this.#own().catch(() => undefined);
    const of = store === undefined ? {} : { store };
    return Promise.all(this.#clients.map((client) => client.ask({ ask: "state" }, of)));
  }

  async search(filters: SearchFilters, { cursor, limit }: PageRequest): Promise<Page<AgentSearchResult>> {
    const place = cursor === undefined ? undefined : parseCursor(cursor);
    if (cursor !== undefined && place === undefined) return { ok: false, reason: "cursor_invalid" };
    const of = this.#clients.length;
    if (place?.waiting !== undefined && place.waiting.of !== of) return { ok: false, reason: "cursor_expired" };
    const now = await this.#now();
    const { at } = now;
    if (place !== undefined && place.seq > at.last) return { ok: false, reason: "cursor_invalid" };
    if (place !== undefined && place.seq < at.pruned) return { ok: false, reason: "cursor_expired" };
    const seq = place?.seq ?? at.seq;
    const asked = { ask: "hits", filters, discovered: this.#discovered, seq, limit: limit + 1 } as const;
    const answers = await this.#all(now, (part) => {
      const after = placeOf(place, part);
      return { ...asked, ...(after !== undefined && { after }) };
    });
    const found = new Map<number, readonly WireHit[]>();
    for (const [part, answer] of answers) {
      if ("expired" in answer) return { ok: false, reason: "cursor_expired" };
      found.set(part, answer.hits);
    }
    const merged = [...found.values()].flat().sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
    const missing = this.#missing(found);
    // Whoever goes on would else come back again and again, for what only the missing parts have.
    if (found.size === 0 || (merged.length === 0 && place !== undefined && missing.length > 0))
      return { ok: false, reason: "parts_missing" };
    const shown = merged.slice(0, limit);
    const more = merged.length > limit || missing.length > 0;
    const last = shown.at(-1);
    const next = placeAfter(place, found, { seq, of, ...(last && { last: keyOf(last) }) });
    const results = shown.map((hit): AgentProfile => agentProfile(agentOfHit(hit), hit[0], filters));
    const value = { results, cursor: more ? formatCursor(next) : null, has_more: more };
    return { ok: true, value: { ...value, ...(missing.length > 0 && { missing_parts: missing }) } };
  }

  /** Asks all at once. @returns what those answered that did, by part */
  async #all<Q extends PartQuestion>(of: AskedOf, question: (part: number) => Q): Promise<Map<number, AnswerTo<Q>>> {
    const asked = await Promise.all(this.#clients.map((client, index) => client.ask(question(index + 1), of)));
    return new Map(asked.flatMap((one, index) => (one.ok ? [[index + 1, one.value] as const] : [])));
  }

  #missing(found: ReadonlyMap<number, unknown>): string[] {
    return this.#clients.flatMap(({ name }, at) => (found.has(at + 1) ? [] : [name]));
  }

  /** Counts of the parts that answer every question; who does not answer one is left out of all that follow. */
  async counted<T>(work: (ask: AskParts) => Promise<T>): Promise<T & { readonly missing_parts?: readonly string[] }> {
    const now = await this.#now();
    for (let there = this.#clients; ; ) {
      const absent = new Set<PartClient>();
      const ask: AskParts = async <Q extends PartQuestion>(question: Q) => {
        const asked = await Promise.all(there.map((client) => client.ask(question, now)));
        for (const [index, one] of asked.entries()) if (!one.ok) absent.add(there[index]!);
        if (absent.size > 0) throw absent;
        return asked.flatMap((one) => (one.ok ? [one.value] : []));
      };
      try {
        const value = await work(ask);
        const missing = this.#clients.filter((client) => !there.includes(client)).map(({ name }) => name);
        return { ...value, ...(missing.length > 0 && { missing_parts: missing }) };
      } catch (thrown) {
        if (thrown !== absent) throw thrown;
        there = there.filter((client) => !absent.has(client));
      }
    }
  }

  async states(): Promise<SearchPartState[]> {
    const asked = await this.#states();
    return asked.map((one: PartReply<Answers["state"]>, at) => {
      const part = this.#clients[at]!.name;
      return one.ok
        ? { part, state: "ok", change: one.value.change, agents: one.value.agents }
        : { part, state: `${one.why}: ${one.detail}`, change: null, agents: null };
    });
  }

  /** Waits for those that read their index; not for those that are gone, once one is there. */
  async warm(signal?: AbortSignal): Promise<void> {
    while (signal?.aborted !== true) {
      const asked = await this.#states();
      if (asked.some(({ ok }) => ok) && !asked.some((one) => !one.ok && one.why === "loading")) return;
      await pause(WARM_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** @throws AdbindError `registry_option_invalid` for addresses that are none */
export function splitSearch(options: SplitOptions): AgentSearch {
  const split = new SplitSearch(options);
  const { discovered } = options;
  return {
    search: (filters, page) => split.search(filters, page),
    facets: (filters) => split.counted((ask) => splitFacets(ask, { filters, discovered })),
    marketMap: (filters, { markets }) => split.counted((ask) => splitMarketMap(ask, { filters, discovered }, markets)),
    warm: (signal) => split.warm(signal),
    parts: () => split.states(),
  };
}
