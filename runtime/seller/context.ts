/** What a handler gets beside its request. */
import type { AnyTool, JsonObject, TaskStatus } from "../contract/index.js";
import type { Effect, LaterWork, SellerContext, SellerError } from "./types.js";

/** What a call leaves behind beside its reply: written with the answer, or started after it. */
export interface Aftermath<Tx> {
  readonly effects: Effect<Tx>[];
  later: LaterWork<AnyTool, Tx> | undefined;
}

/** The part of a context that differs from call to call, or from seller to seller. */
export type ContextBase<Tx> = Omit<
  SellerContext<AnyTool, Tx>,
  "effect" | "complete" | "submitted" | "working" | "inputRequired" | "fail" | "reject"
>;

export const errorList = (errors: SellerError | readonly SellerError[]): readonly SellerError[] =>
  Array.isArray(errors) ? errors : [errors as SellerError];

export function createContext<Tx>(base: ContextBase<Tx>): { ctx: SellerContext<AnyTool, Tx>; after: Aftermath<Tx> } {
  const after: Aftermath<Tx> = { effects: [], later: undefined };
  const reply = <S extends TaskStatus>(status: S, data: unknown) => ({ status, data });
  const interim =
    <S extends TaskStatus>(status: S, own: JsonObject) =>
    (data: object = {}, later?: LaterWork<AnyTool, Tx>) => {
      after.later = later;
      return reply(status, { ...own, ...data });
    };
  const ctx: SellerContext<AnyTool, Tx> = {
    ...base,
    effect: (work: Effect<Tx>) => void after.effects.push(work),
    complete: (data: unknown) => reply("completed", data),
    submitted: interim("submitted", { status: "submitted", task_id: base.taskId }),
    working: interim("working", {}),
    inputRequired: interim("input-required", {}),
    fail: (errors: SellerError | readonly SellerError[]) => reply("failed", { errors: errorList(errors) }),
    reject: (errors: SellerError | readonly SellerError[]) => reply("rejected", { errors: errorList(errors) }),
  };
  return { ctx, after };
}
