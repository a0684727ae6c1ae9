/** Events under an ordering key that were attempted or are kept: found whatever endpoint they wait at, which may be an old one. */
export const attemptedJobs = `
-- Those that were never attempted are in adbind_jobs_order. None is in here that is delivered at once.
create index adbind_jobs_attempted on adbind_jobs (topic, ordering_key)
  where ordering_key is not null and (state <> 'ready' or attempts > 0);
`;
