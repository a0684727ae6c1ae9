/** Numbers of changes in a file: its transactions take turns, and the numbers are counted in a row. */
export const registryClock = {
  tick: "update adbind_registry_clock set seq = seq + 1 where id = 1 returning seq",
  clock: "select seq, seq as last, pruned from adbind_registry_clock where id = 1",
  takesPruning: "select id from adbind_registry_clock where id = 1",
};
