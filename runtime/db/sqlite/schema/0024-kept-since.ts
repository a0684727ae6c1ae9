/** What has ended is kept for so long from its end: it may have waited for longer than that before, and nobody had seen it end. */
export const keptSince = `
-- Of what has ended \`due\` is when it ended.
update adbind_jobs set due = max(created_at, coalesce(first_at, created_at)) where state <> 'ready';
create index adbind_jobs_ended on adbind_jobs (topic, due) where state <> 'ready';
drop index adbind_jobs_kept_since;
`;
