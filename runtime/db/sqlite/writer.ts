/**
 * Group commit: writes are gathered while more come in, and run in one transaction, so that all of them share one fsync.
 * The transaction begins and ends inside a single callback: no other connection of this process, ours or the
 * application's, can ever meet it half done and wait for it.
 */
import type { Database } from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import { isSqliteError } from "./driver.js";
import { explained } from "./faults.js";
import { NamedFile } from "./named-file.js";

/** Writes of one transaction; more go into the next. Bounds how long the event loop stands still. */
const BATCH_LIMIT_WRITES = 256;
/** Longest gathering while nothing new comes, in milliseconds: about what a commit takes, so that waiting at most doubles it. */
const GATHER_MS = 4;
/** Longest gathering while every turn of the event loop brings more, in milliseconds: its time is spent on them, not on waiting. */
const GATHER_MORE_MS = 16;
/** Longest wait of a write nobody is kept waiting by, in milliseconds. */
const LAZY_MS = 10;
/** Pause before the next try while another process writes, in milliseconds: a small part of what its commit takes. */
const BUSY_PAUSE_MS = 5;
/** Default of the longest wait for another process, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5_000;
/** Levels of SQLite at which a commit waits for the disk, and at which only a checkpoint does. */
export const SYNCED = "FULL";
const UNSYNCED = "NORMAL";
/** Longest wait of SQLite's own, in milliseconds: it sleeps in this thread, and everything else of the process with it. */
const STILL_MS = 20;

interface Job {
  readonly run: () => unknown;
  /** Its own writes are undone when it throws, and only those. */
  readonly guarded: boolean;
  /** Its commit waits for the disk. */
  readonly synced: boolean;
  /** When it was asked for, by the process's own clock. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of an attempt to commit: another process is writing, or the database failed and nothing was kept. */
type Unkept = "busy" | "failed";

type Result = { readonly value: unknown } | { readonly error: unknown };

export class Writer {
  #queue: Job[] = [];
  /** When gathering began; undefined while nothing urgent waits. */
  #since: number | undefined;
  /** Urgent writes in the queue, and how many there were a turn ago. */
  #urgent = 0;
  #before = 0;
  /** Urgent writes of the last transaction: about as many may be on their way again. */
  #last = 0;
  #lazy: NodeJS.Timeout | undefined;
  readonly #rolledBack: (() => void)[] = [];
  readonly #committing: (() => void)[] = [];
  readonly #begin;
  readonly #commit;
  readonly #savepoint;
  readonly #release;

  #waiting: NodeJS.Timeout | undefined;
  #stands = -1;
  readonly #named: NamedFile;

  /** @param busyTimeoutMs longest wait of a write while another process writes; the event loop goes on meanwhile */
  constructor(
    readonly db: Database,
    readonly busyTimeoutMs = BUSY_TIMEOUT_MS,
  ) {
    this.#begin = db.prepare("begin immediate");
    this.#commit = db.prepare("commit");
    this.#savepoint = db.prepare("savepoint guarded");
    this.#release = db.prepare("release guarded");
    this.#still(STILL_MS);
    this.#named = new NamedFile(db.name);
  }

  /** How long SQLite itself waits for another process, from now on. */
  #still(ms: number): void {
    const wait = Math.min(ms, this.busyTimeoutMs);
    if (wait !== this.#stands) this.db.pragma(`busy_timeout = ${wait}`);
    this.#stands = wait;
  }

  /** Runs `job` in the next transaction; resolves with its value once that is on disk. */
  write<T>(job: () => T): Promise<T> {
    return this.#add(job);
  }

  /** As `write`, for what can wait for others' writes: it joins the next transaction, or begins one a little later. */
  lazy<T>(job: () => T): Promise<T> {
    return this.#add(job, { lazy: true });
  }

  /** As `write`, for a job that may throw of itself: the others of its transaction go on. */
  guarded<T>(job: () => T): Promise<T> {
    return this.#add(job, { guarded: true });
  }

  /**
   * As `write`, for what may be undone if the machine stops: the commit does not wait for the disk, unless it is others' too. Later
   * ones that do have it on disk with them.
   */
  unsynced<T>(job: () => T): Promise<T> {
    return this.#add(job, { synced: false });
  }

  /** Calls `listener` when writes that ran were undone, so that nothing read from them is remembered. */
  onRollback(listener: () => void): void {
    this.#rolledBack.push(listener);
  }

  /** Calls `listener` at the end of every transaction, inside it: for what its jobs add up rather than write each time. */
  onCommit(listener: () => void): void {
    this.#committing.push(listener);
  }

  /** Commits everything that was asked for, waiting for another process's write if need be: for the end. */
  flush(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#commitAll(true);
  }

  /** @param stand still, rather than go on and try again, while another process writes */
  #commitAll(stand: boolean): void {
    this.#since = undefined;
    clearTimeout(this.#lazy);
    this.#lazy = undefined;
    this.#last = this.#urgent;
    this.#urgent = 0;
    while (this.#queue.length > 0) {
      const jobs = this.#queue.splice(0, BATCH_LIMIT_WRITES);
      const results = this.#transact(jobs, stand);
      if (results === "busy") {
        this.#later(jobs, stand);
        if (!stand) return;
      } else if (results === "failed") for (const job of jobs) this.#alone(job, stand);
      else resolveEach(jobs, results);
    }
  }

  /** Another process is writing: these are tried again, until they have waited long enough. */
  #later(jobs: readonly Job[], giveUp: boolean): void {
    const now = performance.now();
    const over = (job: Job): boolean => giveUp || now - job.since >= this.busyTimeoutMs;
    for (const job of jobs) if (over(job)) job.reject(busyError(this.db, this.busyTimeoutMs));
    this.#queue.unshift(...jobs.filter((job) => !over(job)));
    if (giveUp || this.#queue.length === 0) return;
    // Nothing gathers meanwhile: what is added joins these.
    this.#since ??= now;
    this.#waiting ??= setTimeout(() => {
      this.#waiting = undefined;
      this.#commitAll(false);
    }, BUSY_PAUSE_MS);
  }

  #add<T>(run: () => T, { guarded = false, lazy = false, synced = true } = {}): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ run, guarded, synced, since: performance.now(), resolve: resolve as Job["resolve"], reject });
    if (!lazy) this.#urgent += 1;
    if (this.#waiting !== undefined) return promise;
    if (lazy) this.#lazy ??= setTimeout(() => this.#commitLazy(), LAZY_MS);
    else if (this.#since === undefined) {
      this.#since = performance.now();
      this.#before = 0;
      setImmediate(() => this.#gather());
    }
    return promise;
  }

  /**
   * Commits once a turn of the event loop has brought nothing new and as many wait as last time (those who were answered
   * then are about to ask again), or when it has taken long enough.
   */
  #gather(): void {
    const { length } = this.#queue;
    if (this.#since === undefined || this.#waiting !== undefined || length === 0) return;
    const news = this.#urgent > this.#before;
    const more = (news || this.#urgent < this.#last) && length < BATCH_LIMIT_WRITES;
    this.#before = this.#urgent;
    const longest = news ? GATHER_MORE_MS : GATHER_MS;
    if (more && performance.now() - this.#since < longest) setImmediate(() => this.#gather());
    else this.#commitAll(false);
  }

  /** Where writes are being gathered, theirs is the next transaction. */
  #commitLazy(): void {
    this.#lazy = undefined;
    if (this.#since === undefined) this.#commitAll(false);
  }

  /** Begins a transaction; false while another process writes. */
  #open(stand: boolean): boolean {
    this.#named.check();
    if (stand) this.#still(this.busyTimeoutMs);
    try {
      this.#begin.run();
      this.#still(STILL_MS);
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      // It is asked again by a timer: no turn of those is to wait in this thread.
      if (!stand) this.#still(0);
      return false;
    }
  }

  /** All of them in one transaction. */
  #transact(jobs: readonly Job[], stand: boolean): Result[] | Unkept {
    const synced = jobs.some((job) => job.synced);
    try {
      if (!synced) this.db.pragma(`synchronous = ${UNSYNCED}`);
      if (!this.#open(stand)) return "busy";
      const results = jobs.map((job) => (job.guarded ? this.#guard(job) : { value: job.run() }));
      this.#end();
      return results;
    } catch {
      this.#undo();
      return "failed";
    } finally {
      if (!synced && this.db.open) this.db.pragma(`synchronous = ${SYNCED}`);
    }
  }

  /** After a failure each gets its own transaction: the one that cannot be kept (too large for the disk) fails alone. */
  #alone(job: Job, stand: boolean): void {
    try {
      if (!this.#open(stand)) {
        this.#later([job], stand);
        return;
      }
      const result = job.guarded ? this.#guard(job) : { value: job.run() };
      this.#end();
      resolveEach([job], [result]);
    } catch (error) {
      this.#undo();
      job.reject(explained(error, this.db.name));
    }
  }

  #end(): void {
    for (const listener of this.#committing) listener();
    this.#commit.run();
  }

  #guard(job: Job): Result {
    this.#savepoint.run();
    try {
      const value = job.run();
      this.#release.run();
      return { value };
    } catch (error) {
      // SQLite itself rolls everything back on some failures (disk full); then there is no savepoint to return to.
      if (!this.db.inTransaction) throw error;
      this.db.exec("rollback to guarded; release guarded");
      return { error: explained(error, this.db.name) };
    }
  }

  #undo(): void {
    if (this.db.inTransaction) this.db.exec("rollback");
    for (const listener of this.#rolledBack) listener();
  }
}

const resolveEach = (jobs: readonly Job[], results: readonly Result[]): void => {
  jobs.forEach((job, index) => {
    const result = results[index]!;
    if ("error" in result) job.reject(result.error);
    else job.resolve(result.value);
  });
};

const isBusy = (error: unknown): boolean => isSqliteError(error) && error.code.startsWith("SQLITE_BUSY");

const busyError = (db: Database, waitedMs: number): AdbindError =>
  new AdbindError("database_busy", `another process has been writing for ${waitedMs} ms`, {
    where: db.name,
    remedy: "nothing was written; try again, and look for a long transaction on the file (a shell, a backup)",
  });
