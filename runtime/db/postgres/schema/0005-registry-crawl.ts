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
  id text collate "C" primary key,
  domain text collate "C" not null,
  status text collate "C" not null,
  attempts bigint not null,
  starts bigint not null,
  requested_by text collate "C" not null,
  reason text collate "C" not null,
  requested_at bigint not null,
  started_at bigint,
  completed_at bigint,
  next_attempt_at bigint,
  error text collate "C"
);
create index adbind_crawl_requests_active on adbind_crawl_requests (reason) where completed_at is null;
create index adbind_crawl_requests_caller on adbind_crawl_requests (requested_by, requested_at);
create index adbind_crawl_requests_completed on adbind_crawl_requests (completed_at) where completed_at is not null;

create table adbind_crawl_domains (
  domain text collate "C" primary key,
  active text collate "C",
  asked_at bigint,
  misses bigint not null,
  next_at bigint not null
);
create index adbind_crawl_domains_next on adbind_crawl_domains (next_at) where active is null;

create table adbind_crawl_turns (
  name text collate "C" primary key,
  owner text collate "C" not null,
  until bigint not null,
  place bigint not null
);

create table adbind_crawl_revocations (
  source text collate "C" not null,
  domain text collate "C" not null,
  until bigint not null,
  primary key (source, domain)
);
create index adbind_crawl_revocations_until on adbind_crawl_revocations (until);

create table adbind_crawl_files (
  domain text collate "C" primary key,
  source text not null,
  pointed integer not null,
  last_updated bigint,
  candidate text,
  candidate_since bigint
);
`;
