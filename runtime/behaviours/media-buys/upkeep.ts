/** Carries on what the ad server was to do and has not confirmed, and orders that wait for a signature. */
import type { JsonObject } from "../../contract/index.js";
import { findBuy } from "../buys/buys.js";
import { forgetNews, NEWS, newsOf } from "../buys/news.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import {
  dropInstruction,
  findInstruction,
  forgetInstruction,
  type Instruction,
  InstructionOver,
  instructionsOf,
  instructLater,
  keepInstruction,
  postponed,
  settled,
  taken,
  tellAdServer,
} from "./instructions.js";
import { bookedAnswer, changedAnswer } from "./shown.js";

export async function carryOn(upkeep: Upkeep): Promise<void> {
  const { settings, stopping, onBehalf } = upkeep;
  for (const principal of await settings.store.owners(NEWS)) await onBehalf(principal, tellNews);
  for (const principal of await settings.store.owners("ad_server_instruction")) {
    const due = await onBehalf(principal, async (call) => {
      const waiting = (await instructionsOf(call)).filter(({ due: at }) => at <= call.ctx.now());
      // What was remembered long enough is forgotten.
      for (const one of waiting) if (one.state === "done") forgetInstruction(call, one.key);
      return waiting.filter(({ state }) => state === "open" || (state === "signature" && signsItself(call)));
    });
    for (const { key } of due) {
      if (stopping.aborted) return;
      await carryOnOne(upkeep, principal, key);
    }
  }
}

/** What changed without the ad server becomes an instruction; what waits its turn, a later time. */
async function tellNews(call: BehaviourCall): Promise<void> {
  for (const { media_buy_id: id } of await newsOf(call)) {
    const buy = await findBuy(call, id);
    if (buy === undefined || (await instructLater(call, buy))) forgetNews(call, id);
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
  if (outcome.kind === "done") return settle(upkeep, principal, { instruction, buy: outcome.buy });
  const { taskId } = instruction;
  const refusal = outcome.kind === "refused" ? outcome.error : undefined;
  if (refusal !== undefined && taskId !== undefined) await upkeep.task(taskId).reject(refusal.fault).catch(unlessOver);
  await onBehalf(principal, async (call) => {
    const found = await findInstruction(call, key);
    // The call itself may have come through meanwhile.
    if (found?.state !== "open") return;
    if (refusal !== undefined) dropInstruction(call, found);
    else keepInstruction(call, postponed(found, call.ctx.now()));
  });
}

/** A task that is over already has had its outcome. */
function unlessOver(error: unknown): void {
  if ((error as { code?: string }).code !== "transition_refused") throw error;
}

/** What is to be kept, the outcome and the end of the task are one transaction. */
async function settle(
  upkeep: Upkeep,
  principal: string,
  { instruction, buy }: { instruction: Instruction; buy: Instruction["buy"] },
): Promise<void> {
  const { taskId, kind, tool, release } = instruction;
  const who = { principal, release };
  const work = async (call: BehaviourCall): Promise<JsonObject> => {
    const kept = await settled(call, instruction, buy);
    return kind === "book" ? bookedAnswer(call, kept, tool) : changedAnswer(call, kept, undefined, tool);
  };
  try {
    if (taskId === undefined) await upkeep.onBehalf(who, work);
    else
      await upkeep.onBehalf(who, work, (write, answer) =>
        upkeep.task(taskId).complete(answer as never, { effect: write }),
      );
  } catch (error) {
    if (!(error instanceof InstructionOver)) throw error;
  }
}
