/** The index in memory, and how far it follows the database. */
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../../db/types.js";
import { storeIdentity } from "../../store/identity.js";
import { type ClockRow, clock } from "../../store/registry-clock.js";
import {
  type AgentPart,
  type MoveRow,
  movesSince,
  type ProfileRow,
  profilesAfter,
  profilesSince,
} from "../../store/registry-profiles.js";
import { AgentIndex, type IndexedProfile } from "./agent-index.js";

/**
 * Profiles read at a time when an instance starts. Few: what is alive between two collections makes V8 double its young
 * generation, and it does not give that back (134 MB with 1,000 rows, 67 MB with 100).
 */
const LOAD_ROWS = 100;
/** How long a clock is waited for that another process was told, in milliseconds: this one's database may be a replica. */
const BEHIND_MS = 1_000;
const BEHIND_PAUSE_MS = 20;

/** A profile's row as the index takes it. */
export const profileOfRow = (row: ProfileRow): IndexedProfile => ({
  agent: row.agent,
  url: row.url,
  registered: row.registered === 1,
  score: row.score,
  propertyCount: row.property_count,
  publisherCount: row.publisher_count,
  hasTmp: row.has_tmp === 1,
  taxonomy: row.taxonomy,
  lists: JSON.parse(row.lists) as string[][],
  updatedAt: row.updated_at,
  born: row.born,
});

/** An index that is brought up to date before it is read. */
export interface FollowedIndex {
  /** All changes up to this clock are in the index; read it in the same turn as the index. */
  readonly seq: number;
  /** The newest clock that was given when the index was brought up to date. */
  readonly last: number;
  /** Moves up to this clock are forgotten. */
  readonly pruned: number;
  /** Profiles in it. */
  readonly size: number;
  /** Which database it follows: the same for all that follow that one. Undefined for what follows none. */
  identity(): Promise<string | undefined>;
  /** Another number, other profiles. */
  readonly revision: number;
  /**
   * The index with all that could be seen at a clock.
   * @param at absent: the database is asked for it
   * @param signal ends the reading of an index that was not read yet
   * @throws Error where the database is behind what another process was told
   */
  current(at?: ClockRow, signal?: AbortSignal): Promise<AgentIndex>;
}

interface Changes {
  readonly profiles: readonly ProfileRow[];
  readonly moves: readonly MoveRow[];
}

/**
 * It shows all that can be seen, which may be more than what lies before the low-water mark; a traversal begins at the mark,
 * and what changed after it is taken back by the moves.
 */
export class Mirror implements FollowedIndex {
  #index = new AgentIndex();
  seq = -1;
  last = -1;
  pruned = 0;
  revision = 0;
  /** Clocks after `seq` that are in the index. */
  #seen: number[] = [];
  #loaded: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  /** @param of the part of the agents that is in it; absent: all */
  constructor(
    readonly store: Database,
    readonly of?: AgentPart,
  ) {}

  get size(): number {
    return this.#index.size;
  }

  identity(): Promise<string> {
    return storeIdentity(this.store);
  }

  async current(given?: ClockRow, signal?: AbortSignal): Promise<AgentIndex> {
    this.#loaded ??= this.#load(signal);
    try {
      await this.#loaded;
    } catch (error) {
      this.#loaded = undefined;
      this.#index = new AgentIndex();
      throw error;
    }
    const at = given ?? (await this.store.query((q) => clock(q)));
    // Where a change is under way, what was there when the index last followed says nothing of what is there now.
    if (at.seq < at.last) await this.#next();
    for (const until = Date.now() + BEHIND_MS; this.seq < at.seq; ) {
      await this.#next();
      if (this.seq >= at.seq) break;
      if (Date.now() > until) throw new Error(`the database is at change ${this.seq}, and ${at.seq} is asked for`);
      await pause(BEHIND_PAUSE_MS);
    }
    return this.#index;
  }

  /** What follows from now on: what is under way already may have looked before. */
  async #next(): Promise<void> {
    await this.#following?.catch(() => undefined);
    this.#following ??= this.#follow().finally(() => {
      this.#following = undefined;
    });
    await this.#following;
  }

  /** Reads all profiles in parts; what changes meanwhile is read again by `#follow`. */
  async #load(signal?: AbortSignal): Promise<void> {
    const { seq, last, pruned } = await this.store.query((q) => clock(q));
    let after = 0;
    for (;;) {
      const rows = await this.store.query((q) => profilesAfter(q, after, LOAD_ROWS, this.of));
      this.#index.load(rows.map(profileOfRow));
      if (rows.length < LOAD_ROWS) break;
      signal?.throwIfAborted();
      after = rows.at(-1)!.agent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#index.sort();
    const moves = await this.store.query((q) => movesSince(q, { version: pruned, seen: [], of: this.of }));
    this.#index.addMoves(moves.filter(({ version }) => version <= seq));
    this.seq = seq;
    this.last = last;
    this.pruned = pruned;
  }

  async #follow(): Promise<void> {
    const since = { version: this.seq, seen: this.#seen, of: this.of };
    // The mark is asked first: what lies before it is in the state of the database that is then read.
    const { seq, last, pruned } = await this.store.query((q) => clock(q));
    const { profiles, moves } = await this.store.read(function* (q): Generator<Promise<unknown>, Changes, unknown> {
      return { profiles: yield* profilesSince(q, since), moves: yield* movesSince(q, since) };
    });
    if (profiles.length > 0) this.revision += 1;
    const gone = profiles.filter((row) => row.gone === 1).map((row) => row.agent);
    this.#index.apply(profiles.filter((row) => row.gone === 0).map(profileOfRow), gone);
    this.#index.addMoves(moves);
    this.#index.forgetMoves(pruned);
    const seen = new Set([
      ...this.#seen,
      ...profiles.map(({ version }) => version),
      ...moves.map((one) => one.version),
    ]);
    // Another instance may have given out a later mark than the one that was found here just now; marks never go back.
    this.seq = Math.max(this.seq, seq);
    this.last = Math.max(this.last, last);
    this.#seen = [...seen].filter((version) => version > this.seq);
    this.pruned = pruned;
  }
}
