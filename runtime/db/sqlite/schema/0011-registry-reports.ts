/** What a registry's checks of lists are read again from, and how a manager's publishers are found. */
export const registryReports = `
-- A report is a check of a list as it was answered, kept until it expires; the oldest go first where there are too many.
create table adbind_registry_reports (
  id text primary key,
  kind text not null,
  body text not null,
  bytes integer not null,
  expires integer not null
) strict, without rowid;
create index adbind_registry_reports_expires on adbind_registry_reports (expires);
create index adbind_registry_publishers_managed on adbind_registry_publishers (manager_domain)
  where manager_domain is not null;
`;
