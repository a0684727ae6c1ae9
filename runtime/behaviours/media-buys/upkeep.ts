/** Carries on what the ad server was to do and has not confirmed, and orders that wait for a signature. */
import type { JsonObject } from "../../contract/index.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import {
  dropInstruction,
  findInstruction,
  type Instruction,
  instructionsOf,
  keepInstruction,
  postponed,
  settled,
  taken,
  tellAdServer,
} from "./instructions.js";
import { bookedAnswer, changedAnswer } from "./shown.js";

export async function carryOn(upkeep: Upkeep): Promise<void> {
  const { settings, stopping, onBehalf } = upkeep;
  for (const principal of await settings.store.owners("ad_server_instruction")) {
    const due = await onBehalf(principal, async (call) => {
      const waiting = (await instructionsOf(call)).filter(({ due: at }) => at <= call.ctx.now());
      // What was remembered long enough is forgotten.
      for (const { key, state } of waiting) if (state === "done") dropInstruction(call, key);
      return waiting.filter(({ state }) => state === "open" || (state === "signature" && signsItself(call)));
    });
    for (const { key } of due) {
      if (stopping.aborted) return;
      await carryOnOne(upkeep, principal, key);
    }
  }
}

/** In development nobody is there to sign. */
const signsItself = ({ ctx, ports }: BehaviourCall): boolean =>
  ctx.mode === "development" && ports.approvals.signAfterMs !== undefined;

/** Takes it, so that no other process does; tells the ad server; keeps what came of it. */
async function carryOnOne(upkeep: Upkeep, principal: string, key: string): Promise<void> {
  const { onBehalf } = upkeep;
  const instruction = await onBehalf(principal, async (call) => {
    const found = await findInstruction(call, key);
    if (found === undefined || found.state === "done" || found.due > call.ctx.now()) return undefined;
    const mine: Instruction = { ...taken(call, found), state: "open" };
    keepInstruction(call, mine);
    return mine;
  });
  if (instruction === undefined) return;
  const outcome = await onBehalf(principal, (call) => tellAdServer(call, instruction));
  const { taskId } = instruction;
  if (outcome.kind === "open") {
    await onBehalf(principal, async (call) => keepInstruction(call, postponed(instruction, call.ctx.now())));
    return;
  }
  if (outcome.kind === "refused") {
    if (taskId !== undefined) await upkeep.task(taskId).reject(outcome.error.fault).catch(unlessOver);
    await onBehalf(principal, async (call) => dropInstruction(call, key));
    return;
  }
  await settle(upkeep, principal, { instruction, buy: outcome.buy });
}

/** A task that is over already has had its outcome. */
function unlessOver(error: unknown): void {
  if ((error as { code?: string }).code !== "transition_refused") throw error;
}

/** What is to be kept, the outcome and the end of the task are one transaction. */
function settle(
  upkeep: Upkeep,
  principal: string,
  { instruction, buy }: { instruction: Instruction; buy: Instruction["buy"] },
): Promise<JsonObject> {
  const { taskId, kind, tool, release } = instruction;
  const who = { principal, release };
  const work = async (call: BehaviourCall): Promise<JsonObject> => {
    await settled(call, instruction, buy);
    return kind === "book" ? bookedAnswer(call, buy, tool) : changedAnswer(call, buy, undefined, tool);
  };
  if (taskId === undefined) return upkeep.onBehalf(who, work);
  return upkeep.onBehalf(who, work, (write, answer) =>
    upkeep.task(taskId).complete(answer as never, { effect: write }),
  );
}
