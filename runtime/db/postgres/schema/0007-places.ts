/** Where registrations go: found by their endpoint, so that an endpoint that moves takes them along without a look at all others. */
export const senderPlaces = `
-- Empty for what was registered before, or by an instance that does not know of it; null where there is none.
alter table adbind_sent_tasks add column push_endpoint text default '';
alter table adbind_sent_tasks add column a2a_endpoint text default '';
alter table adbind_channels add column endpoint text default '';
create index adbind_sent_tasks_push on adbind_sent_tasks (push_endpoint, task_id) where push_endpoint is not null;
create index adbind_sent_tasks_a2a on adbind_sent_tasks (a2a_endpoint, task_id) where a2a_endpoint is not null;
create index adbind_channels_endpoint on adbind_channels (endpoint, resource, kind, subscriber) where endpoint is not null;
`;
