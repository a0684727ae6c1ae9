/**
 * What must not compile. Each `@ts-expect-error` is checked by `tsc`: were the line below it to compile, the build fails.
 * At run time the file only proves that it loads.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type {
  CreateMediaBuyArms,
  CreateMediaBuyRequest,
  EntryPoints,
  ErrorCode,
  SellerFor,
} from "../../generated/3.1.0/index.js";
import {
  createMediaBuy,
  type errorCodes,
  handleCreateMediaBuy,
  recoveryOf,
  release,
} from "../../generated/3.1.0/index.js";
import type { Answer, ArmsOf, Handlers, RequestOf } from "../../runtime/contract/index.js";
import { createValidator } from "../../runtime/validate/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proof = <_T extends true>(): void => {};

declare const answer: Answer<CreateMediaBuyArms>;

const all: Handlers<CreateMediaBuyArms, string> = {
  submitted: (data) => data.task_id,
  working: (data) => `${data.percentage ?? 0}`,
  "input-required": (data) => data.reason ?? "",
  completed: (data) => data.media_buy_id,
  failed: ({ errors }) => errors.map(({ code }) => code).join(),
  canceled: () => "canceled",
  rejected: () => "rejected",
};

/** Never called: the compiler reads it. */
export function handlers(): void {
  const text: string = handleCreateMediaBuy(answer, all);
  const { working: _working, ...missing } = all;
  // @ts-expect-error an arm is missing
  handleCreateMediaBuy(answer, missing);
  // @ts-expect-error an arm the tool does not have
  handleCreateMediaBuy(answer, { ...all, paused: () => "" });
  // @ts-expect-error the arm's data is an object, not a string
  handleCreateMediaBuy(answer, { ...all, submitted: (data: string) => data });
  // @ts-expect-error a failure has errors, not a percentage
  handleCreateMediaBuy(answer, { ...all, failed: (data) => `${data.percentage}` });
  // @ts-expect-error submitted carries the task's id as a string
  handleCreateMediaBuy<number>(answer, { ...all, submitted: (data) => data.task_id });
  text.length;
}

/** Never called: the compiler reads it. */
export function requests(): void {
  const request: CreateMediaBuyRequest = {
    idempotency_key: "0123456789abcdef",
    account: { account_id: "a" },
    brand: { domain: "example.com" },
    start_time: "asap",
    end_time: "2027-01-01T00:00:00Z",
    proposal_id: "p1",
    total_budget: { amount: 1000, currency: "USD" },
  };
  const { proposal_id: _proposal, ...aimless } = request;
  // @ts-expect-error neither packages nor a proposal: nothing would be bought
  const nothing: CreateMediaBuyRequest = aimless;
  // @ts-expect-error a misspelt field
  const misspelt: CreateMediaBuyRequest = { ...request, packges: [] };
  // @ts-expect-error a mutating request needs its key
  const keyless: CreateMediaBuyRequest = { ...request, idempotency_key: undefined };
  // @ts-expect-error a number is not a time
  const mistyped: CreateMediaBuyRequest = { ...request, end_time: 5 };
  // @ts-expect-error the schema closes this object
  const account: CreateMediaBuyRequest["account"] = { account_id: "a", colour: "red" };
  for (const one of [nothing, misspelt, keyless, mistyped, account]) one?.toString();
  proof<Same<RequestOf<typeof createMediaBuy>, CreateMediaBuyRequest>>();
  proof<Same<ArmsOf<(typeof release)["tools"]["create_media_buy"]>, CreateMediaBuyArms>>();
}

declare const guaranteed: SellerFor<"sales_guaranteed">;

/** Never called: the compiler reads it. */
export function specialisms(): void {
  proof<"create_media_buy" extends EntryPoints<"sales_guaranteed"> ? true : false>();
  const both: SellerFor<"audience_sync"> = {
    list_accounts: guaranteed.list_accounts!,
    sync_audiences: guaranteed.sync_audiences!,
  };
  // @ts-expect-error an entry point is missing
  const lacking: SellerFor<"audience_sync"> = { list_accounts: both.list_accounts };
  // @ts-expect-error the release has no such specialism
  type Unknown = SellerFor<"sales_by_carrier_pigeon">;
  const buyMoon = () => ({ status: "canceled" as const, data: { errors: [] } });
  // @ts-expect-error a tool of another release
  const foreign: SellerFor<"audience_sync"> = { ...both, buy_moon: buyMoon };
  const submitted = () => ({ status: "submitted" as const, data: {} });
  // @ts-expect-error the tool has no such arm
  const armless: SellerFor<"audience_sync"> = { ...both, list_accounts: submitted };
  for (const one of [lacking, foreign, armless, {} as Unknown]) one.toString();
}

/** Never called: the compiler reads it. */
export async function validation(): Promise<void> {
  const validator = await createValidator(release);
  const judged = validator.request("create_media_buy", {});
  if (judged.ok) proof<Same<typeof judged.data, CreateMediaBuyRequest>>();
  // @ts-expect-error no such tool
  validator.request("create_media_sale", {});
  // @ts-expect-error no such arm
  validator.arm("list_accounts", "submitted", {});
}

test("the table of codes is closed for known codes and open for others", () => {
  proof<Same<ErrorCode, keyof typeof errorCodes>>();
  // @ts-expect-error not a standard code
  const unknown: ErrorCode = "NO_SUCH_CODE";
  assert.is(recoveryOf(unknown), "transient");
  assert.is(recoveryOf("SOME_PLATFORM_CODE"), "transient");
  assert.is(recoveryOf("ACCOUNT_NOT_FOUND"), "terminal");
});

test("a tool of the bindings has its facts as data", () => {
  assert.is(createMediaBuy.mutating, true);
  assert.is(createMediaBuy.idempotency, "required");
});

test.run();
