/**
 * When a file that was found takes the place of the one that is kept (docs/protocol/files.md#what-a-crawl-does): a
 * pointer that was changed may be an attacker's, and an older file gives back what was taken away since.
 */
import { createHash } from "node:crypto";
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { type KeptFileRow, keptFile, putFile } from "../../store/registry-crawl-files.js";
import { iso } from "../model.js";

/** A changed location must stay the same for this long, in milliseconds, unless an operator accepts it. */
const LOCATION_GRACE_MS = 86_400_000;
/** Edges of one origin may differ by this much, in milliseconds: their clocks, not a file that was put back. */
const CLOCK_SKEW_MS = 60_000;
/** Longest URL quoted to whoever asks how a crawl went. */
const MAX_QUOTED = 200;

/** Why a file is not taken, though there is one. */
export interface Quarantine {
  /** For anyone. */
  readonly message: string;
  /** When it is taken if it stays, in unix milliseconds; null: not before it is another one. */
  readonly until: number | null;
}

/** A file that was found, as far as the rules go. */
export interface FoundFile {
  /** URL of the file. */
  readonly source: string;
  /** The source is an authoritative location. */
  readonly pointed: boolean;
  /** The file's `last_updated`, in unix milliseconds. */
  readonly lastUpdated: number | null;
}

/**
 * A file as what it revokes is kept under. By its whole URL: many lie on one host that lets room to strangers, and none of them
 * speaks for another.
 * @returns short, whatever the length of the URL: it is part of a key
 */
export const revokerOf = (url: string): string =>
  `${new URL(url).hostname} ${createHash("sha256").update(url).digest("base64url").slice(0, 22)}`;

/** Two files have one history where they have one place, or both were pointed to: then one took over from the other. */
const follows = (kept: KeptFileRow, { source, pointed }: FoundFile): boolean =>
  kept.source === source || (kept.pointed === 1 && pointed);

const locationQuarantine = (location: string, until: number): Quarantine => ({
  message:
    `authoritative_location changed to ${location.slice(0, MAX_QUOTED)}: it is followed after ${iso(until)} if it stays, ` +
    "or once an operator accepts it; until then the last valid file counts",
  until,
});

const olderFileQuarantine = (found: number, kept: number): Quarantine => ({
  message:
    `last_updated (${iso(found)}) is earlier than in the file taken before (${iso(kept)}): that one counts until an ` +
    "operator accepts the older one",
  until: null,
});

const accepted = (found: FoundFile, before: number | null, now: number): KeptFileRow => {
  // A time ahead of ours is a mistake, and must not shut out the file that mends it.
  const given = found.lastUpdated === null ? null : Math.min(found.lastUpdated, now);
  const latest = given === null || before === null ? (given ?? before) : Math.max(given, before);
  const { source, pointed } = found;
  return { source, pointed: pointed ? 1 : 0, last_updated: latest, candidate: null, candidate_since: null };
};

const isSame = (one: KeptFileRow | undefined, other: KeptFileRow | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    (Object.keys(one) as (keyof KeptFileRow)[]).every((name) => one[name] === other[name]));

/**
 * The file that is kept of a domain, through one attempt at a crawl: read when it begins, and written with what was found.
 * Nobody else crawls the domain meanwhile; an operator may accept what is held back.
 */
export class FileRules {
  #row: KeptFileRow | undefined;

  /** @param before what was kept when the attempt began */
  constructor(
    private readonly before: KeptFileRow | undefined,
    private readonly now: () => number,
  ) {
    this.#row = before;
  }

  /** Judges a location before it is asked. @returns undefined where it may be followed */
  pointer(location: string): Quarantine | undefined {
    const kept = this.#row;
    if (kept === undefined || kept.pointed === 0) return undefined;
    if (kept.source === location) {
      // It went back to what is followed: another change would have to stay from then on.
      this.#row = { ...kept, candidate: null, candidate_since: null };
      return undefined;
    }
    // One that is since a time to come was first seen by a clock that has been set back.
    const before = kept.candidate === location ? (kept.candidate_since ?? this.now()) : this.now();
    const since = Math.min(before, this.now());
    this.#row = { ...kept, candidate: location, candidate_since: since };
    const until = since + LOCATION_GRACE_MS;
    return until <= this.now() ? undefined : locationQuarantine(location, until);
  }

  /** Judges a file that is otherwise good. @returns undefined where it is taken */
  file(found: FoundFile): Quarantine | undefined {
    const kept = this.#row;
    const before = kept !== undefined && follows(kept, found) ? kept.last_updated : null;
    const { lastUpdated } = found;
    if (before !== null && lastUpdated !== null && lastUpdated < before - CLOCK_SKEW_MS)
      return olderFileQuarantine(lastUpdated, before);
    this.#row = accepted(found, before, this.now());
    return undefined;
  }

  /** Remembers what came of it, in the transaction that keeps what was found. */
  *keep(q: Query, domain: string): Coroutine<void> {
    const row = this.#row;
    // Most crawls find what they found last time.
    if (row === undefined || isSame(row, this.before)) return;
    // A location that waits must not undo what an operator has accepted since.
    if (row.candidate !== null && !isSame(yield* keptFile(q, domain), this.before)) return;
    yield* putFile(q, domain, row);
  }
}
