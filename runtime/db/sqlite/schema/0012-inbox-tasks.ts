/** By which task the events of an inbox are found: whoever waits for one reads its own, not all there are. */
export const inboxTasks = `
create index adbind_inbox_task on adbind_inbox (sender, task_id, id) where task_id is not null;
`;
