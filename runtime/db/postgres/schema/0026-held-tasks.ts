/** Work that goes on after an answer is one process's at a time, and another's once that process is gone. */
export const heldTasks = `
alter table adbind_seller_tasks add column worker text;
alter table adbind_seller_tasks add column held_until bigint;
alter table adbind_seller_tasks add column resumptions integer not null default 0;
create index adbind_seller_tasks_held on adbind_seller_tasks (held_until) where held_until is not null;
`;
