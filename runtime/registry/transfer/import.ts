/**
 * Takes an export in, batch by batch. How far it came is remembered in the transaction of each batch: after a crash the
 * same import goes on where it was, and loses and repeats nothing.
 */

import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import type { AnyStore } from "../../store/index.js";
import { tick } from "../../store/registry-clock.js";
import { optedOutAmong } from "../../store/registry-opt-outs.js";
import { addCounts, analyze, checkpoint, markDirty, putCheckpoint } from "../../store/registry-profiles.js";
import { noteChanges } from "../feed/changes.js";
import { makeRows, type PreparedChange, prepare } from "../prepared.js";
import { writePublishers } from "../publisher-write.js";
import { recomputeMembers, recomputeProfiles } from "../recompute.js";
import { isRefusal, LineError, publisherChange, refusedLine } from "./convert.js";
import type { ImportOptions, ImportResult } from "./import-types.js";
import { claimsWork, hostedWork, memberWork, type OtherWork } from "./other-work.js";
import { parseLine } from "./parse-line.js";

/** A batch ends with so many properties, or so many lines: enough to share a commit, and some megabytes at most. */
const BATCH_PROPERTIES = 5_000;
const BATCH_LINES = 1_000;
/** So does one of other lines, which take several statements each; a hosted file may be large. */
const BATCH_OTHER_LINES = 100;
const BATCH_OTHER_CHARACTERS = 1_000_000;

interface PublisherWork {
  readonly kind: "publisher";
  readonly change: PreparedChange;
}

/** A line that is no publisher's, to be written with the others. */
interface Waiting extends OtherWork {
  readonly line: number;
  readonly characters: number;
}

/**
 * Imports lines of an export.
 * @param lines one JSON object each, without line breaks; empty ones are skipped
 * @throws AdbindError `registry_data_invalid` with the number of the first line that cannot be taken; lines before it are kept
 */
export async function importRegistry(
  store: AnyStore,
  lines: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const db = store.database;
  const importing = new Importing(db, options);
  const before = options.id === undefined ? undefined : await db.query((q) => checkpoint(q, options.id!));
  if (before?.done === 1) return importing.result({ resumedAfter: before.lines, doneBefore: true });
  const resumedAfter = before?.lines ?? 0;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (number > resumedAfter) await importing.line(line, number);
  }
  if (number < resumedAfter)
    throw new AdbindError("registry_data_invalid", "the file is shorter than what was imported of it", {
      where: `${number} lines of ${resumedAfter}`,
      remedy: "give the same file, or begin anew",
    });
  await importing.end(number);
  return importing.result({ resumedAfter, doneBefore: false });
}

class Importing {
  // A batch has publishers or other lines, never both: lines take effect in their order.
  #publishers = new Map<string, PreparedChange>();
  #others: Waiting[] = [];
  #batchProperties = 0;
  #batchEnd = 0;
  #writing: Promise<void> | undefined;
  readonly #totals = {
    lines: 0,
    publishers: 0,
    properties: 0,
    profiles: 0,
    members: 0,
    hosted: 0,
    claims: 0,
    invalid: 0,
    optedOut: 0,
    outdated: 0,
  };
  readonly #now: () => number;

  constructor(
    readonly db: Database,
    readonly options: ImportOptions,
  ) {
    this.#now = options.now ?? Date.now;
  }

  async line(text: string, number: number): Promise<void> {
    if (text.trim() !== "") {
      const work = await this.#read(text, number);
      if (work?.kind === "publisher") await this.#gather(work.change);
      if (work?.kind === "other") await this.#gatherOther({ ...work, line: number, characters: text.length });
    }
    this.#batchEnd = number;
    if (this.#full()) await this.#flush();
  }

  #full(): boolean {
    return (
      this.#batchProperties >= BATCH_PROPERTIES ||
      this.#publishers.size >= BATCH_LINES ||
      this.#others.length >= BATCH_OTHER_LINES ||
      this.#others.reduce((sum, { characters }) => sum + characters, 0) >= BATCH_OTHER_CHARACTERS
    );
  }

  async end(lines: number): Promise<void> {
    this.#batchEnd = lines;
    await this.#flush();
    await this.#written();
    this.#totals.lines = lines;
    await this.db.query(analyze);
    this.#totals.profiles = await recomputeProfiles(this.db, this.#now, (recomputed) => {
      this.#totals.profiles = recomputed;
      this.#report();
    });
    await recomputeMembers(this.db);
    await this.db.query(analyze);
    const { id } = this.options;
    if (id !== undefined) await this.db.write((q) => putCheckpoint(q, id, { lines, done: 1 }, this.#now()));
  }

  result(how: { readonly resumedAfter: number; readonly doneBefore: boolean }): ImportResult {
    return { ...this.#totals, ...how };
  }

  async #read(text: string, number: number): Promise<PublisherWork | OtherWork | undefined> {
    const parsed = parseLine(text);
    if (!parsed.ok) return this.#invalid(number, parsed.why);
    try {
      const { line } = parsed;
      switch (line.kind) {
        case "publisher":
          return { kind: "publisher", change: prepare(publisherChange(line), this.#now()) };
        case "member":
          return memberWork(line);
        case "hosted":
          return hostedWork(line);
        case "claims":
          return claimsWork(line);
      }
    } catch (error) {
      if (error instanceof LineError) return this.#invalid(number, error.message);
      throw error;
    }
  }

  /** Lets a line go that cannot be read, or ends the import with all lines before it kept. */
  async #invalid(number: number, why: string): Promise<undefined> {
    // Lines before it may be refused yet, and are told of first.
    if (this.options.invalid === undefined || this.#others.length > 0) await this.#flush();
    await this.#written();
    this.#refuse(number, why);
  }

  #refuse(number: number, why: string): void {
    if (this.options.invalid === undefined) throw refusedLine(number, why);
    this.#totals.invalid += 1;
    this.options.invalid(number, why);
  }

  async #gather(change: PreparedChange): Promise<void> {
    if (this.#publishers.has(change.domain) || this.#others.length > 0) await this.#flush();
    this.#publishers.set(change.domain, change);
    // Now, while the last batch is being written, rather than inside the next transaction.
    change.sets.forEach(makeRows);
    for (const { set } of change.sets) this.#batchProperties += set.properties.length;
  }

  async #gatherOther(work: Waiting): Promise<void> {
    if (this.#publishers.size > 0) await this.#flush();
    this.#others.push(work);
  }

  /**
   * One transaction: what was gathered, and how far the import came. It goes on while the next batch is read, so that
   * this process and PostgreSQL both have work; there is never more than one.
   */
  async #flush(): Promise<void> {
    const [changes, others] = [[...this.#publishers.values()], this.#others];
    const { lines, properties } = { lines: this.#batchEnd, properties: this.#batchProperties };
    this.#publishers = new Map();
    this.#others = [];
    this.#batchProperties = 0;
    await this.#written();
    if (changes.length === 0 && others.length === 0) return;
    const write = async (): Promise<void> => {
      if (others.length > 0) await this.#writeOthers(others);
      else {
        const { taken, outdated } = await this.db.write((q) => this.#writeBatch(q, changes, lines));
        this.#totals.publishers += taken;
        this.#totals.optedOut += changes.length - taken;
        this.#totals.outdated += outdated;
      }
      this.#totals.properties += properties;
      this.#totals.lines = lines;
      this.#report();
    };
    this.#writing = write();
    // Whoever waits for it next gets the error; until then it must not count as nobody's.
    this.#writing.catch(() => undefined);
  }

  /** What was written is durable. */
  async #written(): Promise<void> {
    const writing = this.#writing;
    this.#writing = undefined;
    await writing;
  }

  /** @returns how many were taken, what an owner had ended does not come back by a file of somebody else's; and of how many only a part */
  *#writeBatch(
    q: Query,
    changes: readonly PreparedChange[],
    lines: number,
  ): Coroutine<{ readonly taken: number; readonly outdated: number }> {
    const domains = changes.map(({ domain }) => domain);
    const optedOut = yield* optedOutAmong(q, domains);
    const taken = changes.filter(({ domain }) => !optedOut.has(domain));
    const written = yield* writePublishers(q, taken);
    yield* markDirty(q, written.agents);
    const seq = yield* tick(q);
    yield* noteChanges(q, written.publishers, { seq, now: this.#now() });
    yield* addCounts(q, written.counts);
    yield* this.#note(q, lines);
    return { taken: taken.length, outdated: written.outdated.size };
  }

  *#note(q: Query, lines: number): Coroutine<void> {
    if (this.options.id !== undefined) yield* putCheckpoint(q, this.options.id, { lines, done: 0 }, this.#now());
  }

  /** Lines that may be refused by what is there already: then each has a transaction of its own. */
  async #writeOthers(others: readonly Waiting[]): Promise<void> {
    const write = async (some: readonly Waiting[]): Promise<void> => {
      await this.db.write((q) => this.#runOthers(q, some));
      for (const { adds } of some) this.#totals[adds.kind] += adds.count;
    };
    try {
      await write(others);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const one of others)
        await write([one]).catch((reason: Error) => {
          if (!isRefusal(reason)) throw reason;
          this.#refuse(one.line, reason.message);
        });
    }
  }

  *#runOthers(q: Query, others: readonly Waiting[]): Coroutine<void> {
    const agents = new Set<number>();
    for (const { run } of others) for (const agent of yield* run(q, this.#now())) agents.add(agent);
    yield* markDirty(q, [...agents]);
    yield* tick(q);
    yield* this.#note(q, others.at(-1)!.line);
  }

  #report(): void {
    this.options.progress?.(this.#totals);
  }
}
