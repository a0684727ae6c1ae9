/** Whether the parts of a market go on: each is asked all the time, or counted, and its pauses are measured. */

export interface AskedPart {
  readonly name: string;
  /** Ends well when the part works. */
  readonly ask: () => Promise<unknown>;
}

/** Between two questions to a part, in milliseconds. */
const ASK_MS = 100;
const COUNT_MS = 25;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What one part did well: when each piece of it began and ended, in milliseconds of the process's clock. */
class Track {
  ended: number[] = [];
  lastBegun = 0;
  failed = 0;

  succeeded(begun: number): void {
    this.lastBegun = begun;
    this.ended.push(performance.now());
  }

  /** Longest pause from a moment until now, in milliseconds. */
  pauseSince(from: number): number {
    const moments = [from, ...this.ended.filter((at) => at > from)];
    return Math.max(...moments.slice(1).map((at, index) => at - moments[index]!));
  }
}

export class PartPauses {
  readonly #tracks = new Map<string, Track>();
  readonly #loops: Promise<void>[] = [];
  #over = false;

  /** Asks a part until the end. */
  ask({ name, ask }: AskedPart): void {
    const track = this.#trackOf(name);
    const loop = async (): Promise<void> => {
      while (!this.#over) {
        const begun = performance.now();
        try {
          await ask();
          track.succeeded(begun);
        } catch {
          track.failed += 1;
        }
        await pause(ASK_MS);
      }
    };
    this.#loops.push(loop());
  }

  /** Follows a part by what it has done. @param done a count that grows */
  count(name: string, done: () => number): void {
    const track = this.#trackOf(name);
    const loop = async (): Promise<void> => {
      for (let known = done(); !this.#over; await pause(COUNT_MS)) {
        const now = done();
        // It may have begun when the last one ended.
        if (now > known) track.succeeded(track.ended.at(-1) ?? 0);
        known = now;
      }
    };
    this.#loops.push(loop());
  }

  get names(): readonly string[] {
    return [...this.#tracks.keys()];
  }

  /** Parts that did nothing well since a moment. */
  idleSince(moment: number): readonly string[] {
    return this.names.filter((name) => this.#trackOf(name).lastBegun < moment);
  }

  /** Longest pause of each part since a moment, in milliseconds. What was before is forgotten. */
  pausesSince(moment: number): ReadonlyMap<string, number> {
    const pauses = new Map(this.names.map((name) => [name, this.#trackOf(name).pauseSince(moment)]));
    for (const track of this.#tracks.values()) track.ended = track.ended.slice(-1);
    return pauses;
  }

  failures(name: string): number {
    return this.#trackOf(name).failed;
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#loops);
  }

  #trackOf(name: string): Track {
    const track = this.#tracks.get(name) ?? new Track();
    this.#tracks.set(name, track);
    return track;
  }
}
