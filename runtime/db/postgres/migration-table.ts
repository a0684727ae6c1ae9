/** The table of applied steps. */
export const migrationTable = `create table if not exists adbind_migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  compatible_from integer not null,
  applied_at timestamptz not null default now()
);`;
