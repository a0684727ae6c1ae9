/**
 * How each group fares in this process: how much of it may be out at once, and when it is left alone for a while. A group
 * starts narrow and widens with every success, so that a hundred dead ones never hold the slots of a living one.
 */
export interface GroupOptions {
  /** Most jobs of a group at once. */
  readonly perGroup: number;
  /** Failures in a row after which the group is paused. */
  readonly failuresToPause: number;
  /** First pause, in milliseconds; doubled with each probe that fails. */
  readonly pauseMs: number;
  /** Longest pause, in milliseconds. */
  readonly maxPauseMs: number;
}

/** Width of a group nothing is known of, and of one that fails. */
const FIRST_WIDTH_JOBS = 2;
/** Successes in a row that end a group's bad spell (webhooks-facts.md 6). */
const SUCCESSES_TO_CLOSE = 2;
/** Groups remembered that have nothing out; beyond it the oldest are forgotten. */
const IDLE_GROUPS = 10_000;

interface Group {
  out: number;
  width: number;
  failures: number;
  successes: number;
  pauses: number;
  pausedUntil: number;
  failingSince: number | null;
}

/** What an outcome means for its group. */
export type Turn =
  | { readonly kind: "same" }
  | { readonly kind: "paused"; readonly until: number; readonly failingSince: number }
  | { readonly kind: "recovered" };

export class Groups {
  readonly #groups = new Map<string, Group>();

  constructor(readonly options: GroupOptions) {}

  /**
   * How many more of a group may start.
   * @param free slots nobody has
   */
  room(name: string, free: number, now: number): number {
    const group = this.#groups.get(name);
    // A quarter of what is free: the last slots are never all one group's.
    const share = Math.ceil(free / 4);
    if (group === undefined) return Math.min(FIRST_WIDTH_JOBS, this.options.perGroup, share);
    if (group.pausedUntil > now) return 0;
    const width = group.failures >= this.options.failuresToPause ? 1 : group.width;
    return Math.max(0, Math.min(width - group.out, share));
  }

  started(name: string): void {
    this.#of(name).out += 1;
  }

  /** A job left without saying anything of its group. */
  returned(name: string): void {
    this.#of(name).out -= 1;
    this.#trim();
  }

  succeeded(name: string): Turn {
    const group = this.#of(name);
    group.out -= 1;
    group.width = Math.min(this.options.perGroup, group.width + 1);
    group.successes += 1;
    const bad = group.failingSince !== null;
    if (bad && group.failures >= this.options.failuresToPause && group.successes < SUCCESSES_TO_CLOSE) {
      return { kind: "same" };
    }
    const reported = group.pauses > 0;
    Object.assign(group, { failures: 0, pauses: 0, failingSince: null, pausedUntil: 0 });
    this.#trim();
    return reported ? { kind: "recovered" } : { kind: "same" };
  }

  failed(name: string, now: number): Turn {
    const group = this.#of(name);
    group.out -= 1;
    group.successes = 0;
    group.failures += 1;
    group.failingSince = Math.min(group.failingSince ?? now, now);
    group.width = Math.max(1, Math.floor(group.width / 2));
    const { failuresToPause, pauseMs, maxPauseMs } = this.options;
    if (group.failures < failuresToPause || group.pausedUntil > now) return { kind: "same" };
    group.pausedUntil = now + Math.min(maxPauseMs, pauseMs * 2 ** Math.min(group.pauses, 16));
    group.pauses += 1;
    return { kind: "paused", until: group.pausedUntil, failingSince: group.failingSince };
  }

  /** The clock was set back: no pause may outlast what it was meant to last. */
  pull(horizon: number): void {
    for (const group of this.#groups.values()) if (group.pausedUntil > horizon) group.pausedUntil = 0;
  }

  #of(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      const width = Math.min(FIRST_WIDTH_JOBS, this.options.perGroup);
      group = { out: 0, width, failures: 0, successes: 0, pauses: 0, pausedUntil: 0, failingSince: null };
      this.#groups.set(name, group);
    }
    return group;
  }

  #trim(): void {
    if (this.#groups.size <= IDLE_GROUPS) return;
    for (const [name, { out, failures }] of this.#groups) {
      if (out === 0 && failures === 0) this.#groups.delete(name);
      if (this.#groups.size <= IDLE_GROUPS) return;
    }
  }
}
