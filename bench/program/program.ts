/** What a buyer and a seller write with a release; small enough to read at a glance. */
import type { Answer, Failure } from "adbind/contract";
import type { SellerFor } from "./release/index.js";
import { type CreateMediaBuyArms, checkSpecialism, handleCreateMediaBuy, recoveryOf } from "./release/index.js";

const failure = ({ errors }: Failure): string => errors.map((error) => `${error.code}: ${recoveryOf(error)}`).join();
export const afterCreate = (answer: Answer<CreateMediaBuyArms>): string =>
  handleCreateMediaBuy(answer, {
    submitted: ({ task_id }) => `poll ${task_id}`,
    working: ({ percentage }) => `${percentage ?? 0} % done`,
    "input-required": ({ reason }) => `ask a person: ${reason ?? "no reason given"}`,
    completed: (data) => ("media_buy_id" in data ? `bought ${data.media_buy_id}` : "nothing bought"),
    failed: failure,
    canceled: failure,
    rejected: failure,
  });

const failed = (code: string) => ({ status: "failed" as const, data: { errors: [{ code, message: "not today" }] } });
export const seller: SellerFor<"sales_guaranteed"> = {
  create_media_buy: ({ packages }) => failed(packages?.length === 0 ? "INVALID_REQUEST" : "TERMS_REJECTED"),
  get_products: () => failed("PRODUCT_UNAVAILABLE"),
  sync_governance: () => failed("UNSUPPORTED_FEATURE"),
};

export const lacking: readonly string[] = checkSpecialism("sales-guaranteed", seller).missingExercised;
