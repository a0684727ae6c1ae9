/** What must not compile with a buyer. Each `@ts-expect-error` is checked by `tsc`; at run time the file only loads. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type CreateMediaBuyArms, release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { Handlers } from "../../runtime/contract/index.js";

const buyer = createBuyer({ release, agent: "https://seller.example/mcp" });

declare const all: Handlers<CreateMediaBuyArms, string>;
declare const request: Parameters<typeof buyer.tools.create_media_buy>[0];

/** Never called: the compiler reads it. */
export async function calls(): Promise<void> {
  const called = await buyer.tools.create_media_buy(request);
  const text: string = called.on(all);
  const { working: _working, ...missing } = all;
  // @ts-expect-error an arm is missing
  called.on(missing);
  // @ts-expect-error an arm the tool does not have
  called.on({ ...all, paused: () => "" });
  // @ts-expect-error the arm's data is an object, not a string
  called.on({ ...all, submitted: (data: string) => data });
  // @ts-expect-error a failure has errors, not a percentage
  called.on({ ...all, failed: (data) => `${data.percentage}` });
  const ended = await called.waitForCompletion();
  if (ended.status === "completed") ended.data.valueOf();
  // @ts-expect-error no status of the tool
  if (ended.status === "paused") text.length;
}

/** Never called: the compiler reads it. */
export async function byName(name: string, untyped: { [key: string]: string }): Promise<void> {
  const { answer } = await buyer.call("create_media_buy", request);
  if (answer.status === "completed") answer.data.valueOf();
  // @ts-expect-error no status of the tool
  if (answer.status === "paused") name.length;
  const { answer: found } = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
  if (found.status === "completed" && "products" in found.data) found.data.products?.length;
  const any = await buyer.call(name, untyped);
  // @ts-expect-error nothing is known of a tool that is named at run time
  if (any.answer.status === "completed") any.answer.data.media_buy_id;
}

/** Never called: the compiler reads it. */
export async function requests(): Promise<void> {
  const { account: _account, ...incomplete } = request;
  // @ts-expect-error a required member is missing
  await buyer.tools.create_media_buy(incomplete);
  // @ts-expect-error a member of another type
  await buyer.tools.create_media_buy({ ...request, packages: "all" });
  // @ts-expect-error no tool of the release
  await buyer.tools.create_media_by(request);
  // @ts-expect-error no specialism of the release
  await buyer.claims("sales_guarantee");
  await buyer.claims("sales_guaranteed");
  // @ts-expect-error no kind of state
  await buyer.reconcile({ kind: "everything" });
  // @ts-expect-error a key is text
  await buyer.tools.create_media_buy({ ...request, idempotency_key: 7 });
}

test("the buyer's types load", async () => {
  assert.type(buyer.tools.create_media_buy, "function");
  await buyer.close();
});

test.run();
