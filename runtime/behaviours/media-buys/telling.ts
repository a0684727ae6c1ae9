/** One attempt to have the ad server do something: what it is told, and what its answer comes to. */
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import type { DocumentChange } from "../../store/documents.js";
import type { MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Booking } from "../ports/ad-server.js";
import { orderFor } from "./orders.js";

export type InstructionKind = "book" | "change" | "pause" | "resume" | "cancel";

export interface Instruction {
  /** The ad server's idempotency key. */
  readonly key: string;
  readonly kind: InstructionKind;
  /** The tool that asked for it: whose answer its outcome is. */
  readonly tool: string;
  /** `signature`: until a person has decided; `open`: to be told; `done`: kept for whoever repeats the call. */
  readonly state: "signature" | "open" | "done";
  /** The buy as it is to be. */
  readonly buy: MediaBuy;
  /** The buy that was to be changed; none of an order that is new. */
  readonly base?: MediaBuy;
  /** What else is kept with it. */
  readonly writes: readonly DocumentChange[];
  /** The task that waits for it. */
  readonly taskId?: string;
  readonly release: string;
  /** Unix milliseconds: nobody else carries it on before. */
  readonly due: number;
  readonly attempts: number;
  /** Unix milliseconds at which an order that waited for it was signed, until its plan has been asked again. */
  readonly signed?: number;
}

/** How long one attempt may take, in milliseconds: a buyer waits for the answer meanwhile. */
export const PATIENCE_MS = 10_000;

export type InstructionOutcome =
  | { readonly kind: "done"; readonly buy: MediaBuy }
  | { readonly kind: "refused"; readonly error: ToolError }
  /** Nobody knows what became of it. */
  | { readonly kind: "open" };

/** An order without a name could be neither changed nor canceled: nobody would be told. @throws AdbindError `port_answer_invalid` */
function checkedBooking(booking: Booking | undefined): Booking {
  if (typeof booking?.orderId === "string" && booking.orderId !== "") return booking;
  throw new AdbindError("port_answer_invalid", "an order was booked without a name", {
    where: "book of the port adServer",
    remedy: "answer { orderId }, a text; the order is told again under its key until then",
  });
}

/** Tells the ad server once more, under the instruction's key. */
export async function tellAdServer(call: BehaviourCall, { key, kind, buy }: Instruction): Promise<InstructionOutcome> {
  const { adServer } = call.ports;
  const signal = AbortSignal.timeout(adServer.patienceMs ?? PATIENCE_MS);
  const given = { idempotencyKey: key, signal };
  const order = orderFor(call, buy);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  const told = async (): Promise<Booking | undefined> => {
    if (kind === "book") return checkedBooking(await adServer.book(order, given));
    if (buy.booking !== undefined) await adServer[kind](buy.booking, order, given);
    return buy.booking;
  };
  try {
    const booking = await Promise.race([told(), late]);
    return { kind: "done", buy: { ...buy, ...(booking !== undefined && { booking }) } };
  } catch (error) {
    if (error instanceof ToolError) return { kind: "refused", error };
    const { key: instruction, media_buy_id: mediaBuyId } = { key, ...buy };
    call.ctx.logger?.warn(
      { err: error, instruction, kind, mediaBuyId },
      "the ad server gave no answer; it is asked again",
    );
    return { kind: "open" };
  }
}
