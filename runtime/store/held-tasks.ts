/** Tasks whose work goes on after their answer: which run has each, and until when. */
import type { Coroutine } from "../db/coroutine.js";
import type { Runner } from "./runner.js";
import type { SellerTaskRow } from "./seller-task.js";

/** A task that a run of work has. */
export interface HeldTask {
  readonly taskId: string;
  readonly worker: string;
}

export interface HeldTaskTables<Tx> {
  /**
   * @param until unix milliseconds; null where nobody has it any more
   * @param harmless what took it up before was not ended by it: that is forgotten
   */
  holdTask(tx: Tx, of: HeldTask, until: number | null, harmless?: boolean): Coroutine<unknown[]>;
  /** Tasks whose work was held until then at most. What is held for longer than anybody holds is held until `most` from now on. */
  abandonedTasks(tx: Tx, at: number, most: number, limit: number): Coroutine<SellerTaskRow[]>;
  /** Has another run go on with a task; answers it where it is still as it was found. */
  takeTask(tx: Tx, found: SellerTaskRow, worker: string, until: number): Coroutine<SellerTaskRow[]>;
}

export const heldTaskTables = <Tx>(run: Runner<Tx>): HeldTaskTables<Tx> => ({
  holdTask(tx, { taskId, worker }, until, harmless = false) {
    const more = `${until === null ? ", worker = null" : ""}${harmless ? ", resumptions = 0" : ""}`;
    const text = `update adbind_seller_tasks set held_until = ?${more} where task_id = ? and worker = ?`;
    return run(tx, text, [until, taskId, worker]);
  },
  *abandonedTasks(tx, at, most, limit) {
    // By a clock that was ahead. Whoever lives renews in time.
    yield* run(tx, "update adbind_seller_tasks set held_until = ? where held_until > ?", [most, most]);
    return yield* run<SellerTaskRow>(
      tx,
      "select * from adbind_seller_tasks where held_until <= ? and completed_at is null order by held_until limit ?",
      [at, limit],
    );
  },
  takeTask: (tx, found, worker, until) =>
    run(
      tx,
      "update adbind_seller_tasks set worker = ?, held_until = ?, resumptions = resumptions + 1 " +
        "where task_id = ? and worker = ? and held_until = ? and completed_at is null returning *",
      [worker, until, found.task_id, found.worker, found.held_until],
    ),
});
