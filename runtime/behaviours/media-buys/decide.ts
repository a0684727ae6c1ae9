/** What a person decides about an order that waits for a signature. */
import { AdbindError } from "../../errors.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { abandonInstruction, instructionsOf, keepInstruction } from "./instructions.js";

/** What a person decided on an order that waited. */
export interface OrderDecision {
  readonly principal: string;
  /** The task that waits, as `seller.unfinished()` lists it. */
  readonly taskId: string;
  readonly approved: boolean;
  /** Told to the buyer of an order that is not approved. */
  readonly reason?: string;
}

/**
 * The plan of an approved order is asked again; then it is booked at the ad server, and its task completed. Any other is rejected.
 * @throws AdbindError `task_unknown` where no order of the principal waits under the task
 */
export async function decideOrder(upkeep: Pick<Upkeep, "onBehalf" | "task">, decision: OrderDecision): Promise<void> {
  const { principal, taskId, approved, reason = "The order was not approved." } = decision;
  // One reading of the order, and one transaction: of two who decide at once the second finds that nobody waits any more.
  const decided = async (call: BehaviourCall): Promise<void> => {
    const waiting = (await instructionsOf(call)).find((one) => one.taskId === taskId && one.state === "signature");
    if (waiting === undefined)
      throw new AdbindError("task_unknown", "no order waits for a signature under this task", {
        where: taskId,
        remedy: "seller.unfinished() lists the tasks that wait, with their principals",
      });
    const now = call.ctx.now();
    if (approved) keepInstruction(call, { ...waiting, state: "open", signed: now, due: now });
    else await abandonInstruction(call, waiting);
  };
  if (approved) return upkeep.onBehalf(principal, decided);
  await upkeep.onBehalf(principal, decided, (write) =>
    upkeep.task(taskId).reject({ code: "IO_REQUIRED", message: reason }, { effect: write }),
  );
}
