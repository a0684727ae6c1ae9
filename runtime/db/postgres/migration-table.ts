/**
 * The table of applied steps. Before it and before every step, in their transaction: a backslash in what steps store is a character,
 * whatever a role or a database has by default, and also behind a pooler, whose connections are made by itself.
 */
export const migrationTable = `set local standard_conforming_strings = on;
create table if not exists adbind_migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  compatible_from integer not null,
  applied_at timestamptz not null default now()
);`;
