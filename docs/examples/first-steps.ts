/**
 * First steps with generated bindings: one exhaustive handler for every way an answer may come, the recovery of an error,
 * a request judged before it is sent, and a specialism checked. `#bindings` is a release's generated folder (your
 * package.json's "imports" say which), so the same program runs on any release that has these tools.
 */

import { readAnswer, readWebhookAnswer } from "adbind/contract";
import { createValidator } from "adbind/validate";
import { checkSpecialism, createMediaBuy, handleCreateMediaBuy, recoveryOf, release } from "#bindings";

/** Leave an arm out, add one, or mistake its data, and this does not compile. */
const describe = (answer: Parameters<typeof handleCreateMediaBuy>[0]): string =>
  handleCreateMediaBuy(answer, {
    submitted: (_data, { taskId }) => `submitted: wait for task ${taskId}`,
    working: ({ percentage }) => `working: ${percentage ?? 0} %`,
    "input-required": ({ reason }) => `input-required: ${reason ?? "see the message"}`,
    completed: (data) => `completed: ${"media_buy_id" in data ? data.media_buy_id : "see the errors"}`,
    failed: ({ errors }) => `failed: ${errors.map((error) => `${error.code} is ${recoveryOf(error)}`).join(", ")}`,
    canceled: () => "canceled",
    rejected: () => "rejected",
  });

const initial = { status: "submitted", task_id: "task-1" };
const refusal = {
  errors: [
    { code: "BUDGET_TOO_LOW", message: "raise it" },
    { code: "HOUSE_RULE", message: "ours" },
  ],
};
const webhook = { task_id: "task-1", status: "working", timestamp: "2026-01-01T00:00:00Z", result: { percentage: 40 } };
console.log(describe(readAnswer(createMediaBuy, initial, release.word)));
console.log(describe(readWebhookAnswer(createMediaBuy, webhook, release.word)));
console.log(
  describe(
    readWebhookAnswer(
      createMediaBuy,
      { ...webhook, status: "completed", result: { media_buy_id: "mb-7" } },
      release.word,
    ),
  ),
);
console.log(describe(readAnswer(createMediaBuy, refusal, release.word)));

const validator = await createValidator(release);
const judged = validator.request("create_media_buy", { account: { account_id: "acc-1" }, end_time: "soon" });
console.log(
  judged.ok
    ? "valid"
    : judged.errors
        .map(({ pointer, message }) => `${pointer}: ${message}`)
        .slice(0, 3)
        .join("; "),
);

const shipped = ["get_products", "create_media_buy"];
const { ok, missingEntryPoints, missingExercised } = checkSpecialism("sales-guaranteed", shipped);
console.log(
  `sales-guaranteed with ${shipped.join(", ")}: ${ok ? "claimable" : `lacks ${missingEntryPoints.join(", ")}`}`,
);
console.log(`not ready for ${missingExercised.length} more calls of the conformance kit`);
