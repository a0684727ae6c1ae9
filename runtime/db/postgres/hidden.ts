/** Tables of ours of which row level security, switched on since, lets the role see nothing: no policy says otherwise. */
const HIDDEN = `select c.oid::regclass::text as name from pg_class c
  where c.relname like 'adbind!_%' escape '!' and c.relkind in ('r', 'p') and pg_table_is_visible(c.oid) and c.relrowsecurity
    and row_security_active(c.oid) and not exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive
      and exists (select from unnest(p.polroles) as of (role) where role = 0 or pg_has_role(current_user, role, 'usage')))`;

/** Their names, as one text; null where there are none. */
export const HIDDEN_TABLES = `(select string_agg(name, ', ' order by name) from (${HIDDEN}) hidden)`;
