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
   * @param ms for so long from now on, in milliseconds; null where nobody has it any more
   * @param harmless what took it up before was not ended by it: that is forgotten
   */
  holdTask(tx: Tx, of: HeldTask, ms: number | null, harmless?: boolean): Coroutine<unknown[]>;
  /**
   * Tasks whose work is held no longer. The clock may have been set back: what is held for longer than anybody holds is held for that
   * long from now on.
   * @param mostMs how long anybody holds, in milliseconds
   */
  abandonedTasks(tx: Tx, mostMs: number, limit: number): Coroutine<SellerTaskRow[]>;
  /** Has another run go on with a task; answers it where it is still as it was found. */
  takeTask(tx: Tx, found: SellerTaskRow, worker: string, ms: number): Coroutine<SellerTaskRow[]>;
}

/** So many milliseconds from now, given as one `?`; none where that is null. @param clock the dialect's */
export const fromNow = (clock: string): string => `cast(? as bigint) + ${clock}`;

/** @param clock the dialect's */
export const heldTaskTables = <Tx>(run: Runner<Tx>, clock: string): HeldTaskTables<Tx> => ({
  holdTask(tx, { taskId, worker }, ms, harmless = false) {
    const more = `${ms === null ? ", worker = null" : ""}${harmless ? ", resumptions = 0" : ""}`;
    const text = `update adbind_seller_tasks set held_until = ${fromNow(clock)}${more} where task_id = ? and worker = ?`;
    return run(tx, text, [ms, taskId, worker]);
  },
  *abandonedTasks(tx, mostMs, limit) {
    const most = fromNow(clock);
    // Whoever lives renews in time.
    yield* run(tx, `update adbind_seller_tasks set held_until = ${most} where held_until > ${most}`, [mostMs, mostMs]);
    return yield* run<SellerTaskRow>(
      tx,
      `select * from adbind_seller_tasks where held_until <= ${clock} and completed_at is null order by held_until limit ?`,
      [limit],
    );
  },
  takeTask: (tx, found, worker, ms) =>
    run(
      tx,
      `update adbind_seller_tasks set worker = ?, held_until = ${fromNow(clock)}, resumptions = resumptions + 1 ` +
        "where task_id = ? and worker = ? and held_until = ? and completed_at is null returning *",
      [worker, ms, found.task_id, found.worker, found.held_until],
    ),
});
