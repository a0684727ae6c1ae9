/** What those who page through the registry, or keep a copy of it, ask and get. */
import type { components } from "../../generated/registry/openapi.js";

type Schemas = components["schemas"];
/** One change of what a registry knows. */
export type FeedEvent = Schemas["FeedEvent"];
/** A page of changes, and where to go on. */
export type FeedPage = Schemas["FeedPage"];
/** One authorization of a snapshot. */
export type SnapshotRow = Schemas["SnapshotRow"];
type AuthorizationSource = Schemas["AuthorizationSource"];
type PublisherLookup = Schemas["PublisherLookup"];

/** Which page of a list, and how long. */
export interface PageRequest {
  readonly cursor?: string;
  /** 1..200 in a search, 1..1000 in a list of publishers; the caller has checked it. */
  readonly limit: number;
}

/** A part of a publisher lookup: its properties are paged by one cursor, its agents by another. */
export interface LookupPage extends Partial<PageRequest> {
  readonly agentsCursor?: string | undefined;
  readonly agentsLimit?: number | undefined;
}

/** A page of an agent's publishers. */
export interface PublishersPage extends PageRequest {
  /** Whose word it is; absent is everybody's. */
  readonly source?: AuthorizationSource;
  /** Only what is in effect now; and with the publisher's names for the properties, of its own file or none. */
  readonly properties?: boolean;
}

/**
 * A page, or why there is none: the cursor is not one of ours, what it needs is not remembered any more, or only parts of the index
 * have the next that do not answer.
 */
export type Page<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: "cursor_invalid" | "cursor_expired" | "parts_missing" };

/** Which changes to read, from where. */
export interface FeedRequest {
  readonly cursor?: string | undefined;
  /** Patterns such as `agent.*`; absent is all. */
  readonly types?: readonly string[] | undefined;
  readonly limit: number;
}

/** Where a feed ends now. */
export interface FeedHead {
  /** The newest change. */
  readonly seq: number;
  /** A cursor behind it. */
  readonly cursor: string;
}

/** Where in a snapshot. */
export interface SnapshotPlace {
  readonly publisher: number;
  readonly agent: number;
}

/** A part of a snapshot, and where the next begins. */
export interface SnapshotPart {
  readonly rows: Iterable<SnapshotRow>;
  /** Undefined at the end. */
  readonly next: SnapshotPlace | undefined;
}

/** Of the registry's data what is read in parts. */
export interface FollowedData {
  /** The same, with the properties and the agents that a page asks for; the first thousand of each by default. */
  publisherPage(domain: string, page: LookupPage): Promise<Page<PublisherLookup>>;
  /** What changed after a cursor; without one all that stands, and what ended lately. */
  feed(request: FeedRequest): Promise<Page<FeedPage>>;
  /** Counts on with every change of the feed: cheap to ask. */
  feedEnd(): Promise<FeedHead>;
  /** Authorizations that stand, by publisher and agent: one part of a snapshot. */
  authorizationsAfter(after: SnapshotPlace, sources: readonly AuthorizationSource[]): Promise<SnapshotPart>;
  /** What one agent may sell, `limit` rows at most; undefined for an agent nobody knows. */
  authorizationsOf(
    agentUrl: string,
    wanted: { readonly sources: readonly AuthorizationSource[]; readonly limit: number },
  ): Promise<SnapshotRow[] | undefined>;
  /** Forgets what ended before the feed's retention. @returns how much */
  forgetGone(): Promise<number>;
}
