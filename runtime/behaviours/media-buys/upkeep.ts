/** Carries on what the ad server was to do and has not confirmed, and orders that wait for a signature. */
import { eachAlone } from "../../queue/periodic.js";
import { ToolError } from "../../seller/tool-error.js";
import type { TaskHandle } from "../../seller/types.js";
import { findBuy } from "../buys/buys.js";
import { forgetNews, NEWS, newsOf } from "../buys/news.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall, StandingCommit } from "../frame/call.js";
import { checkSigned } from "./governed.js";
import {
  abandonInstruction,
  findInstruction,
  finishInstruction,
  forgetFinished,
  InstructionOver,
  instructionsOf,
  instructLater,
  keepInstruction,
  postponed,
  taken,
} from "./instructions.js";
import { bookedAnswer, changedAnswer } from "./shown.js";
import { askStates } from "./states.js";
import { type Instruction, type InstructionOutcome, tellAdServer } from "./telling.js";

/** Buyers whose orders are carried on at a time, and orders of each: one that an ad server is silent about holds up few others. */
const AT_ONCE = { buyers: 8, orders: 4 } as const;

export async function carryOn(upkeep: Upkeep): Promise<void> {
  const { settings, stopping, onBehalf } = upkeep;
  const everywhere = [
    async () =>
      eachAlone(await settings.store.owners(NEWS), async (principal) => {
        if (!stopping.aborted) await onBehalf(principal, tellNews);
      }),
    async () =>
      eachAlone(await settings.store.owners("ad_server_instruction"), (principal) => carryOnOf(upkeep, principal), {
        stopping,
        atOnce: AT_ONCE.buyers,
      }),
  ];
  await eachAlone([...everywhere, () => forgetFinished(upkeep), () => askStates(upkeep)], (work) => work());
}

/** What waits of a principal: one instruction that fails keeps none of the others waiting. */
async function carryOnOf(upkeep: Upkeep, principal: string): Promise<void> {
  const due = await upkeep.onBehalf(principal, async (call) => {
    const waiting = (await instructionsOf(call)).filter(({ due: at }) => at <= call.ctx.now());
    return waiting.filter(({ state }) => state === "open" || (state === "signature" && signsItself(call)));
  });
  const carryOnNext = ({ key }: Instruction) => carryOnOne(upkeep, principal, key);
  await eachAlone(due, carryOnNext, { stopping: upkeep.stopping, atOnce: AT_ONCE.orders });
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
    const signed = found.state === "signature" ? { signed: call.ctx.now() } : {};
    const mine: Instruction = { ...taken(call, found), ...signed, state: "open" };
    keepInstruction(call, mine);
    return mine;
  });
  if (instruction === undefined) return;
  const outcome =
    (await withheld(upkeep, principal, instruction)) ??
    (await onBehalf(principal, (call) => tellAdServer(call, instruction)));
  if (outcome.kind === "done") return finish(upkeep, principal, { instruction, buy: outcome.buy });
  const refusal = outcome.kind === "refused" ? outcome.error.error : undefined;
  await onBehalf(
    principal,
    async (call) => {
      const found = await findInstruction(call, key);
      // The call itself may have come through meanwhile.
      if (found?.state !== "open") return undefined;
      if (refusal !== undefined) await abandonInstruction(call, found);
      else keepInstruction(call, postponed(found, call.ctx.now()));
      return found.taskId;
    },
    (write, taskId) =>
      withTask(upkeep, { write, principal }, refusal && taskId, (task, more) => task.reject(refusal!, more)),
  );
}

/** How long a signed order waits for governance agents that give no decision, in milliseconds. */
const UNDECIDED_MS = 24 * 3_600_000;

/** Why an order that was signed late is not told to the ad server, or not yet; undefined where its plan allows it still. */
async function withheld(
  { onBehalf }: Upkeep,
  principal: string,
  { key, tool, buy, release, signed }: Instruction,
): Promise<InstructionOutcome | undefined> {
  if (signed === undefined) return undefined;
  return onBehalf({ principal, release }, async (call): Promise<InstructionOutcome | undefined> => {
    try {
      await checkSigned(call, tool, buy);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const undecided = error.error.code === "GOVERNANCE_UNAVAILABLE" && call.ctx.now() - signed < UNDECIDED_MS;
      return undecided ? { kind: "open" } : { kind: "refused", error };
    }
    const found = await findInstruction(call, key);
    // One that somebody else has finished meanwhile waits no more.
    if (found === undefined || found.state === "done") return undefined;
    const { signed: _, ...asked } = found;
    keepInstruction(call, asked);
    return undefined;
  });
}

type Write = Parameters<StandingCommit<unknown>>[0];
type Ended = Parameters<TaskHandle<never, never>["reject"]>[1];

/** Commits what is to be kept, with the end of the task that waits for it; a task that is over already keeps its end. */
async function withTask(
  { settings, task }: Upkeep,
  { write, principal }: { readonly write: Write; readonly principal: string },
  taskId: string | undefined,
  end: (task: TaskHandle<never, never>, more: Ended) => Promise<void>,
): Promise<void> {
  if (taskId !== undefined) {
    try {
      return await end(task(taskId), { effect: write });
    } catch (error) {
      if ((error as { code?: string }).code !== "transition_refused") throw error;
    }
  }
  await settings.store.commit([], [write], principal);
}

/** What is to be kept, the outcome and the end of the task are one transaction. */
async function finish(
  upkeep: Upkeep,
  principal: string,
  { instruction, buy }: { instruction: Instruction; buy: Instruction["buy"] },
): Promise<void> {
  const { kind, release, key, tool } = instruction;
  const work = async (call: BehaviourCall) => {
    const kept = await finishInstruction(call, instruction, buy);
    // Its call may have become a task since this process took it on.
    const taskId = (await findInstruction(call, key))?.taskId;
    const answer = kind === "book" ? bookedAnswer(call, kept, tool) : changedAnswer(call, kept, undefined, tool);
    return { taskId, answer: await answer };
  };
  try {
    await upkeep.onBehalf({ principal, release }, work, (write, { taskId, answer }) =>
      withTask(upkeep, { write, principal }, taskId, (task, more) => task.complete(answer, more)),
    );
  } catch (error) {
    if (!(error instanceof InstructionOver)) throw error;
  }
}
