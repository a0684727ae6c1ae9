/** The registry's data on a store: each question one transaction, each change another. */

import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { AdbindError } from "../errors.js";
import type { AnyStore } from "../store/index.js";
import {
  domainsNeverCrawled,
  hostedByDomain,
  hostedDue,
  memberByOrganization,
  memberBySlug,
  membersAfter,
  originChecked,
  putHosted,
  removeHosted,
} from "../store/registry-agents.js";
import { revision } from "../store/registry-clock.js";
import { publishersByDomain, publishersDue, publishersNeverCrawled } from "../store/registry-lookups.js";
import { recountMembers } from "../store/registry-profiles.js";
import { brandEnds, keepBrandFile } from "./brand-files.js";
import { checkedData } from "./checks.js";
import { putClaims } from "./claims.js";
import { preparedCrawl, withoutBrand } from "./crawl-apply.js";
import { recomputeEffect } from "./effect.js";
import { expand, validateProduct } from "./expand.js";
import type { FileProblem } from "./file-problems.js";
import { followed } from "./followed.js";
import { agentPublishers, lookupProperty } from "./inverse.js";
import { listedData } from "./listed.js";
import { assemble, putMember, registerAgent, removeMember } from "./members.js";
import { agentUrlOf, publisherDomain } from "./model.js";
import { Offers } from "./offers.js";
import { findOperator, operatorLookup } from "./operator.js";
import { optOutData } from "./opt-outs.js";
import { pagedData } from "./paged.js";
import { type PublisherChange, prepare } from "./prepared.js";
import { setOfFile } from "./project.js";
import { lookupAuthorization, lookupDomain, lookupPublisher } from "./publisher.js";
import { writePublishers } from "./publisher-write.js";
import { finish, recomputeProfiles } from "./recompute.js";
import { searchData, searchOf } from "./search/open.js";
import { endAbsent, endStale } from "./stale.js";
import { stats } from "./stats.js";
import type {
  AppliedCrawl,
  CrawlState,
  ExpandRequest,
  ExpandResult,
  HostedFile,
  JsonValue,
  Member,
  RegistryData,
  RegistryDataOptions,
} from "./types.js";

/** Members read at a time. */
const MEMBER_ROWS = 500;

const unusable = (what: string, where: string): AdbindError =>
  new AdbindError("registry_data_invalid", what, { where: where.slice(0, 200), remedy: "check it before asking" });

function domainOf(text: string): string {
  const domain = publisherDomain(text);
  if (domain === undefined) throw unusable("that is no domain", text);
  return domain;
}

function urlOf(text: string): string {
  const url = agentUrlOf(text);
  if (url === undefined) throw unusable("that is no agent's URL", text);
  return url;
}

/**
 * Opens the registry's data on a store.
 * @param store both kinds answer alike; on PostgreSQL any number of instances may share one
 */
export function createRegistryData(store: AnyStore, options: RegistryDataOptions = {}): RegistryData {
  const dependencies = {
    db: store.database,
    now: options.now ?? store.now ?? Date.now,
    publicUrl: options.publicUrl ?? "http://localhost",
  };
  const search = searchOf(dependencies.db, options);
  return {
    ...lookups(dependencies),
    ...listedData({ ...dependencies, urlOf }),
    ...followed({ ...dependencies, domainOf, urlOf }),
    ...optOutData({ ...dependencies, domainOf }),
    ...checkedData(dependencies),
    ...crawling(dependencies),
    ...hosting(dependencies),
    ...membership(dependencies),
    ...pagedData({ ...dependencies, search, domainOf, urlOf }),
    ...searchData(search),
    warm: async (signal) => {
      await recomputeEffect(dependencies.db, dependencies.now);
      await recomputeProfiles(dependencies.db, dependencies.now);
      await search.warm(signal);
    },
  };
}

interface DataDependencies {
  readonly db: Database;
  readonly now: () => number;
  readonly publicUrl: string;
}

const lookups = ({ db, now, publicUrl }: DataDependencies) => {
  const offers = new Offers();
  const expanded = (request: ExpandRequest, by = "") => expand(db, request, { offers, by, now: now() });
  return {
    lookupPublisher: async (text) => {
      const domain = domainOf(text);
      const found = await db.read((q) => lookupPublisher(q, domain, { publicUrl, now: now() }));
      // Only a cursor can lead nowhere.
      if (!found.ok) throw unusable("there is no such page", text);
      return found.value;
    },
    lookupAuthorization: async (text, agent) => {
      const [domain, url] = [domainOf(text), urlOf(agent)];
      return db.read((q) => lookupAuthorization(q, domain, url, now()));
    },
    lookupOperator: async (text, viewer, scope) => {
      const domain = domainOf(text);
      const found = await db.read((q) => findOperator(q, domain));
      return operatorLookup(domain, found, { viewer, scope, now: now() });
    },
    agentPublishers: async (agent, page) => {
      const url = urlOf(agent);
      return db.read((q) => agentPublishers(q, url, { ...page, now: now() }));
    },
    lookupDomain: async (text) => {
      const domain = domainOf(text);
      return db.read((q) => lookupDomain(q, domain, now()));
    },
    lookupProperty: async (type, value, agent) =>
      db.read((q) => lookupProperty(q, { type, value, agentUrl: agent && urlOf(agent) }, now())),
    expand: async (request, by) => JSON.parse((await expanded(request, by)).toString()) as ExpandResult,
    expandBytes: expanded,
    validateProduct: (request, by = "") => validateProduct(db, request, { offers, by, now: now() }),
    stats: () => db.read(stats),
    revision: () => db.query((q) => revision(q)),
  } satisfies Partial<RegistryData>;
};

const crawling = ({ db, now }: DataDependencies) =>
  ({
    applyCrawl: async (result, along) => {
      const change = await preparedCrawl(db, result, now());
      return db.write(function* (q): Coroutine<AppliedCrawl> {
        if (along !== undefined) yield* along(q);
        const ended = yield* brandEnds(q, result);
        const written = yield* writePublishers(q, [ended ? withoutBrand(change, result) : change]);
        yield* keepBrandFile(q, result, ended);
        const agents = yield* finish(q, written, now());
        const { changed, properties, authorizations } = written;
        return { changed: changed.size > 0, properties, authorizations, agents };
      });
    },
    crawlDue: (before, limit) =>
      db.query(function* (q): Coroutine<string[]> {
        const never = yield* domainsNeverCrawled(q, limit);
        const imported = yield* publishersNeverCrawled(q, limit);
        const due = yield* publishersDue(q, before, limit);
        return [...never, ...imported, ...due].slice(0, limit).map(({ domain }) => domain);
      }),
    endStale: (before, limit) => db.write((q) => endStale(q, { before, limit, now: now() })),
    endAbsent: async (text, organization) => {
      const domain = domainOf(text);
      return db.write((q) => endAbsent(q, { domain, organization, now: now() }));
    },
    crawlState: async (text) => {
      const domain = domainOf(text);
      const [row] = await db.query((q) => publishersByDomain(q, [domain]));
      if (row === undefined) return undefined;
      return {
        domain,
        crawledAt: row.crawled_at,
        validatedAt: row.validated_at,
        valid: row.valid === null ? null : row.valid === 1,
        managerDomain: row.manager_domain,
        problems: JSON.parse(row.problems ?? "[]") as FileProblem[],
      } satisfies CrawlState;
    },
    putClaims: async (agent, claims) => {
      const url = urlOf(agent);
      const byDomain = new Map(claims.map((claim) => [domainOf(claim.publisherDomain), claim]));
      await db.write((q) => putClaims(q, url, byDomain, now()));
    },
    recomputeEffect: () => recomputeEffect(db, now),
    recomputeProfiles: () => recomputeProfiles(db, now),
  }) satisfies Partial<RegistryData>;

const hosting = ({ db, now }: DataDependencies) =>
  ({
    hostedFile: async (text) => {
      const domain = domainOf(text);
      const row = await db.query((q) => hostedByDomain(q, domain));
      if (row === undefined) return undefined;
      return {
        domain,
        file: JSON.parse(row.file) as JsonValue,
        updatedAt: row.updated_at,
        originVerifiedAt: row.origin_verified_at,
        originLastCheckedAt: row.origin_checked_at,
      } satisfies HostedFile;
    },
    putHostedFile: async (text, { file, content }) => {
      const domain = domainOf(text);
      await db.write(function* (q): Coroutine<void> {
        yield* putHosted(q, domain, JSON.stringify(file), now());
        const change: PublisherChange = { domain, facts: () => ({}), sets: { aao_hosted: setOfFile(content) } };
        yield* finish(q, yield* writePublishers(q, [prepare(change, now())]), now());
      });
    },
    removeHostedFile: async (text) => {
      const domain = domainOf(text);
      return db.write(function* (q): Coroutine<boolean> {
        if (!(yield* removeHosted(q, domain))) return false;
        const none = { properties: [], agents: [] };
        const change: PublisherChange = { domain, facts: () => ({}), sets: { aao_hosted: none } };
        yield* finish(q, yield* writePublishers(q, [prepare(change, now())]), now());
        return true;
      });
    },
    hostedDue: async (before, limit) =>
      (await db.query((q) => hostedDue(q, before, limit))).map(({ domain }) => domain),
    originChecked: async (text, { verified, at }) => {
      const domain = domainOf(text);
      await db.write((q) => originChecked(q, domain, verified, at));
    },
  }) satisfies Partial<RegistryData>;

const membership = ({ db, now }: DataDependencies) => {
  const changing = (flow: (q: Query) => Coroutine<number[]>): Promise<void> =>
    db.write(function* (q): Coroutine<void> {
      yield* finish(q, { agents: yield* flow(q), counts: [] }, now());
      yield* recountMembers(q);
    });
  return {
    putMember: (member) => changing((q) => putMember(q, member)),
    registerAgent: (slug, agent) => changing((q) => registerAgent(q, slug, agent)),
    removeMember: (slug) =>
      db.write(function* (q): Coroutine<boolean> {
        const agents = yield* removeMember(q, slug);
        if (agents === undefined) return false;
        yield* finish(q, { agents, counts: [] }, now());
        yield* recountMembers(q);
        return true;
      }),
    member: (slug) =>
      db.read(function* (q): Coroutine<Member | undefined> {
        const row = yield* memberBySlug(q, slug);
        return row === undefined ? undefined : (yield* assemble(q, [row]))[0];
      }),
    memberOf: (organization) =>
      db.read(function* (q): Coroutine<Member | undefined> {
        const row = yield* memberByOrganization(q, organization);
        return row === undefined ? undefined : (yield* assemble(q, [row]))[0];
      }),
    members: () =>
      db.read(function* (q): Coroutine<Member[]> {
        const all: Member[] = [];
        for (let after = ""; ; ) {
          const rows = yield* membersAfter(q, after, MEMBER_ROWS);
          all.push(...(yield* assemble(q, rows)));
          if (rows.length < MEMBER_ROWS) return all;
          after = rows.at(-1)!.slug;
        }
      }),
  } satisfies Partial<RegistryData>;
};
