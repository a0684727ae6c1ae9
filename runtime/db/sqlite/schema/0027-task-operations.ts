/** A sender that numbers its tasks anew has the events of each kept in order by themselves: its operation tells them apart. */
export const taskOperations = `
alter table adbind_tasks add column operation_id text;

create table adbind_task_operations (
  sender integer not null,
  task_id text not null,
  operation_id text not null,
  instant text not null,
  status text not null,
  terminal integer not null,
  missed integer,
  expires integer not null,
  primary key (sender, task_id, operation_id)
) strict, without rowid;
create index adbind_task_operations_expires on adbind_task_operations (expires);
`;
