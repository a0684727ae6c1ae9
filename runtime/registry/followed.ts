/** The registry's data for those who read it in parts, or keep a copy. */
import type { Database } from "../db/types.js";
import { endCursor, feedEnd, feedPage, forgetGone } from "./feed/read.js";
import { agentRows, snapshotPart } from "./feed/snapshot.js";
import type { FollowedData } from "./follow-types.js";
import { lookupPublisher } from "./publisher.js";

/** Pairs forgotten in one transaction. */
const FORGET_PAIRS = 1_000;

interface FollowedDependencies {
  readonly db: Database;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly publicUrl: string;
  /** Throw on what cannot be used. */
  readonly domainOf: (text: string) => string;
  readonly urlOf: (text: string) => string;
}

export const followed = ({ db, now, publicUrl, domainOf, urlOf }: FollowedDependencies): FollowedData => ({
  publisherPage: async (text, page) => {
    const domain = domainOf(text);
    return db.read((q) => lookupPublisher(q, domain, { ...page, publicUrl, now: now() }));
  },
  feed: (request) => feedPage(db, request, now()),
  feedEnd: async () => {
    const { seq } = await db.query(feedEnd);
    return { seq, cursor: endCursor({ seq }) };
  },
  authorizationsAfter: (after, sources) => db.read((q) => snapshotPart(q, after, { sources, now: now() })),
  authorizationsOf: async (agent, wanted) => {
    const url = urlOf(agent);
    return db.read((q) => agentRows(q, url, { ...wanted, now: now() }));
  },
  forgetGone: () => forgetGone(db, now(), FORGET_PAIRS),
});
