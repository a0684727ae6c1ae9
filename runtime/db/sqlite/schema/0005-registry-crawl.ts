/** What a registry's crawler remembers. */
export const registryCrawl = `
-- A request is what callers see of a crawl; the job that does it is the queue's, made and settled in the same
-- transactions. A domain's row is locked by whoever asks for a crawl, so that instances agree on the one that is active;
-- next_at is when it is crawled again by itself. starts counts attempts that began: one that ends the process would
-- otherwise be taken up for ever. A turn is held by the one instance that plans. A revocation is remembered longer than
-- the file says it.
-- A row of crawl_files is a domain whose file was taken: where it came from and the latest time it gave for itself, which
-- a later one must not go behind; and where the domain has begun to point since, which is not followed before it has stayed.
create table adbind_crawl_requests (
  id text primary key,
  domain text not null,
  status text not null,
  attempts integer not null,
  starts integer not null,
  requested_by text not null,
  reason text not null,
  requested_at integer not null,
  started_at integer,
  completed_at integer,
  next_attempt_at integer,
  error text
) strict, without rowid;
create index adbind_crawl_requests_active on adbind_crawl_requests (reason) where completed_at is null;
create index adbind_crawl_requests_caller on adbind_crawl_requests (requested_by, requested_at);
create index adbind_crawl_requests_completed on adbind_crawl_requests (completed_at) where completed_at is not null;

create table adbind_crawl_domains (
  domain text primary key,
  active text,
  asked_at integer,
  misses integer not null,
  next_at integer not null
) strict, without rowid;
create index adbind_crawl_domains_next on adbind_crawl_domains (next_at) where active is null;

create table adbind_crawl_turns (
  name text primary key,
  owner text not null,
  until integer not null,
  place integer not null
) strict, without rowid;

create table adbind_crawl_revocations (
  source text not null,
  domain text not null,
  until integer not null,
  primary key (source, domain)
) strict, without rowid;
create index adbind_crawl_revocations_until on adbind_crawl_revocations (until);

create table adbind_crawl_files (
  domain text primary key,
  source text not null,
  pointed integer not null,
  last_updated integer,
  candidate text,
  candidate_since integer
) strict, without rowid;
`;
