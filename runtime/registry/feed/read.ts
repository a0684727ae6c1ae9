/** The feed of changes: authorizations and agents in the order in which their transactions ended. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query, Statements } from "../../db/types.js";
import { clock, tick } from "../../store/registry-clock.js";
import { anyGone, feedEndAt, profileChangesAfter, pruneFeed, type StoredFeedEnd } from "../../store/registry-feed.js";
import { foldCounts, type ProfileRow } from "../../store/registry-profiles.js";
import { feedAfter, type ToldRow } from "../../store/registry-told.js";
import { type FeedEvent, type FeedPage, type FeedRequest, type Page, SEARCH_DIMENSIONS } from "../types.js";
import { pairEvents, publisherEvent } from "./authorizations.js";
import { beginning, type Cursor, cursorText, eventId, type FeedPlace, readCursor } from "./cursor.js";

/** How long it is remembered that something is gone; what stands is told for ever. */
const FEED_RETENTION_DAYS = 90;
const DAY_MS = 86_400_000;
/** Changes looked at for one page, however few of them a filter lets through. */
const SCAN_ROWS = 10_000;
/** Rows read at once: each time is two journeys to a database that is elsewhere. */
const CHUNK_ROWS = 2_000;
/** What a page may weigh, in characters of the stored rows: some profiles have thousands of values. */
const PAGE_CHARACTERS = 8_000_000;

const feedEventTypes = [
  "authorization.granted",
  "authorization.revoked",
  "publisher.adagents_discovered",
  "publisher.adagents_changed",
  "agent.discovered",
  "agent.profile_updated",
  "agent.removed",
] as const;

/** The event types that patterns mean. */
function wantedTypes(patterns: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (patterns === undefined || patterns.length === 0) return undefined;
  const means = (pattern: string, type: string): boolean =>
    pattern === "*" || pattern === type || (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1)));
  return new Set(feedEventTypes.filter((type) => patterns.some((pattern) => means(pattern, type))));
}

function agentEvent(row: ProfileRow): FeedEvent {
  const lists = JSON.parse(row.lists) as string[][];
  const profile = {
    ...Object.fromEntries(SEARCH_DIMENSIONS.map((name, at) => [name, lists[at] ?? []])),
    category_taxonomy: row.taxonomy,
    property_count: row.property_count,
    publisher_count: row.publisher_count,
    has_tmp: row.has_tmp === 1,
  };
  const type = row.gone === 1 ? "removed" : row.born === row.version ? "discovered" : "profile_updated";
  return {
    event_id: eventId(row.updated_at, { seq: row.version, kind: 1, number: row.agent }, 0),
    event_type: `agent.${type}`,
    entity_type: "agent",
    entity_id: row.url,
    payload: { agent_url: row.url, url: row.url, ...(row.gone === 0 && { inventory_profile: profile }) },
    actor: "registry",
    created_at: new Date(row.updated_at).toISOString(),
  };
}

interface Change {
  readonly place: FeedPlace;
  /** Characters of what it was made from. */
  readonly weight: number;
  readonly events: readonly FeedEvent[];
}

const changeOfPair = (row: ToldRow, now: number): Change => ({
  place: { seq: row.seq, kind: 0, number: row.position },
  weight: row.entries?.length ?? 0,
  events: row.agent === 0 ? [publisherEvent(row)] : pairEvents(row, now),
});

/** Changes after a place, of both kinds, in their order. */
function* changesFrom(
  q: Query,
  place: FeedPlace,
  { rows, now, mark }: { readonly rows: number; readonly now: number; readonly mark: number },
): Coroutine<{ readonly changes: readonly Change[]; readonly more: boolean }> {
  // A place among the agents of a clock is behind all its authorizations.
  const position = place.kind === 1 ? Number.MAX_SAFE_INTEGER : place.number;
  const agent = place.kind === 1 ? place.number : 0;
  const { rows: pairs, more } = yield* feedAfter(q, { seq: place.seq, position, until: mark, limit: rows });
  // Where there may be more pairs, no profile behind the last of them can be among the first.
  const until = more ? pairs.at(-1)!.seq : mark;
  const profiles = yield* profileChangesAfter(q, { seq: place.seq, agent, until, limit: rows });
  const all: Change[] = [];
  let [p, g] = [0, 0];
  while (all.length < rows && (p < pairs.length || g < profiles.length)) {
    const [pair, profile] = [pairs[p], profiles[g]];
    const pairFirst = pair !== undefined && (profile === undefined || pair.seq <= profile.version);
    if (pairFirst) {
      all.push(changeOfPair(pair, now));
      p += 1;
    } else {
      const place: FeedPlace = { seq: profile!.version, kind: 1, number: profile!.agent };
      all.push({ place, weight: profile!.lists.length, events: [agentEvent(profile!)] });
      g += 1;
    }
  }
  return { changes: all, more: more || all.length === rows };
}

/** Where the feed is. */
interface Moment {
  readonly now: number;
  /** All up to it can be told. */
  readonly mark: number;
  /** Newest change there is. */
  readonly last: number;
}

/**
 * Whether something may be missing to a reader: what was forgotten, or, to one that has read further than this database has come, as
 * after a backup is put back, all that has taken the numbers of what it read.
 */
function misses(cursor: Cursor, { pruned }: StoredFeedEnd, { last }: Moment): boolean {
  const read = Math.max(cursor.seq, cursor.since);
  return read < pruned || read > last;
}

/** What a page may still take in. */
class PageInProgress {
  readonly events: FeedEvent[] = [];
  reached: FeedPlace;
  #scanned = 0;
  #weight = 0;
  readonly #wanted: ReadonlySet<string> | undefined;

  constructor(
    from: FeedPlace,
    readonly request: FeedRequest,
  ) {
    this.reached = from;
    this.#wanted = wantedTypes(request.types);
  }

  get rows(): number {
    return this.#wanted === undefined ? Math.min(CHUNK_ROWS, this.request.limit - this.events.length) : CHUNK_ROWS;
  }

  get full(): boolean {
    const { length } = this.events;
    return length >= this.request.limit || this.#weight >= PAGE_CHARACTERS || this.#scanned >= SCAN_ROWS;
  }

  /** A change is told whole: a page is longer than was asked only where its first change is. @returns false when it does not fit */
  take({ place, weight, events }: Change): boolean {
    const fitting = this.#wanted === undefined ? events : events.filter((one) => this.#wanted?.has(one.event_type));
    if (this.events.length > 0 && this.events.length + fitting.length > this.request.limit) return false;
    this.events.push(...fitting);
    this.reached = place;
    this.#scanned += 1;
    this.#weight += weight;
    return true;
  }
}

/** Fills a page. @returns whether there may be more */
function* fill(
  q: Query,
  page: PageInProgress,
  until: { readonly now: number; readonly mark: number },
): Coroutine<boolean> {
  while (!page.full) {
    const { rows } = page;
    const { changes, more } = yield* changesFrom(q, page.reached, { rows, ...until });
    for (const change of changes) if (page.full || !page.take(change)) return true;
    if (!more) return false;
  }
  return true;
}

/** A page of changes; the reader goes on with its cursor, and has all when `has_more` is false. */
export async function feedPage(db: Database, request: FeedRequest, now: number): Promise<Page<FeedPage>> {
  // Asked before the page's state of the database is taken, so that all up to it is there.
  const { seq: mark, last } = await db.query((q) => clock(q));
  return db.read((q) => pageUntil(q, request, { now, mark, last }));
}

function* pageUntil(q: Query, request: FeedRequest, moment: Moment): Coroutine<Page<FeedPage>> {
  const { now, mark } = moment;
  const given = request.cursor ? readCursor(request.cursor) : undefined;
  if (given === undefined && request.cursor) return { ok: false, reason: "cursor_invalid" };
  const end = yield* feedEndAt(q, mark);
  if (given !== undefined && misses(given, end, moment)) return { ok: false, reason: "cursor_expired" };
  const page = new PageInProgress(given ?? beginning, request);
  const more = yield* fill(q, page, { now, mark });
  const { events, reached } = page;
  return {
    ok: true,
    value: {
      events,
      cursor: reached === beginning ? null : cursorText({ ...reached, since: given?.since ?? end.seq }),
      has_more: more,
      freshness: {
        generated_at: new Date(now).toISOString(),
        latest_event_created_at: end.at === null ? null : new Date(end.at).toISOString(),
        lag_seconds: end.at === null ? null : Math.max(0, Math.floor((now - end.at) / 1000)),
        retention_days: FEED_RETENTION_DAYS,
      },
    },
  };
}

/** The newest change that all before can be seen of. */
export function* feedEnd(q: Statements): Coroutine<StoredFeedEnd> {
  return yield* feedEndAt(q, (yield* clock(q)).seq);
}

/** A cursor that stands behind everything there is. */
export const endCursor = ({ seq }: Pick<StoredFeedEnd, "seq">): string =>
  cursorText({ seq, kind: 1, number: 2 ** 34 - 1, since: seq });

/** Forgets pairs that are gone for longer than a cursor is good, and adds up the counts. @returns how many pairs */
export async function forgetGone(db: Database, now: number, limit: number): Promise<number> {
  await db.write((q) => foldCounts(q));
  const until = now - FEED_RETENTION_DAYS * DAY_MS;
  if (!(await db.query((q) => anyGone(q, until)))) return 0;
  return db.write(function* (q): Coroutine<number> {
    yield* tick(q);
    return yield* pruneFeed(q, until, limit);
  });
}
