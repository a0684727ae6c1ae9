/** What a seller remembers of its calls and tasks. */
export const seller = `
-- A call's row outlives its answer: what was seen and is no longer replayed is told apart from what is new.
create table adbind_calls (
  scope text not null,
  key text not null,
  hash text not null,
  owner text,
  lease integer not null,
  answer text,
  replay_until integer not null,
  forget_at integer not null,
  primary key (scope, key)
) strict, without rowid;
create index adbind_calls_forget on adbind_calls (forget_at);
create index adbind_calls_replay on adbind_calls (replay_until) where answer is not null;

create table adbind_seller_tasks (
  task_id text primary key,
  principal text not null,
  account text,
  tool text not null,
  protocol text not null,
  release text not null,
  status text not null,
  created_at integer not null,
  updated_at integer not null,
  completed_at integer,
  has_webhook integer not null,
  context text,
  context_id text,
  request text,
  message text,
  progress text,
  result text,
  resource text,
  expires integer not null
) strict, without rowid;
create index adbind_seller_tasks_principal on adbind_seller_tasks (principal, created_at);
create index adbind_seller_tasks_open on adbind_seller_tasks (created_at) where completed_at is null;
create index adbind_seller_tasks_resource on adbind_seller_tasks (principal, resource) where resource is not null;
create index adbind_seller_tasks_expires on adbind_seller_tasks (expires);

-- Changes of an account in the order of their commits: who appends holds the account's row until then.
create table adbind_account_feeds (
  account text primary key,
  last integer not null,
  first_at integer not null
) strict, without rowid;
create table adbind_account_changes (
  account text not null,
  seq integer not null,
  change_id text not null,
  resource_type text not null,
  body text not null,
  expires integer not null,
  primary key (account, seq)
) strict, without rowid;
create index adbind_account_changes_expires on adbind_account_changes (expires);
`;
