import { test } from "uvu";
import * as assert from "uvu/assert";
import type { InvalidMessage } from "../../runtime/buyer/index.js";
import type { Failure } from "../../runtime/contract/index.js";
import { scene } from "./fixtures.js";

test("whoever wants to be told of invalid messages is, and an invalid request is not sent", async () => {
  const told: InvalidMessage[] = [];
  const made = await scene({
    answer: () => ({ payload: { status: "completed", products: 7 } }),
    buyer: { onInvalid: (message) => void told.push(message) },
  });
  try {
    const refused = await made.buyer.tools.create_media_buy({ packages: "all" } as never);
    assert.is((refused.answer.data as Failure).errors[0]?.code, "INVALID_REQUEST");
    assert.is(made.calls().length, 0);
    const answered = await made.buyer.tools.get_products({ buying_mode: "brief", brief: "sports" } as never);
    assert.is(answered.answer.status, "completed", "an answer is read all the same");
    assert.equal(
      told.map(({ tool, direction }) => [tool, direction]),
      [
        ["create_media_buy", "request"],
        ["get_products", "answer"],
      ],
    );
    assert.is(told[1]?.errors[0]?.pointer, "/products");
  } finally {
    await made.close();
  }
});

for (const [how, fails] of [
  ["throws", () => assert.unreachable("ours")],
  ["rejects", async () => assert.unreachable("ours")],
] as const) {
  test(`a listener that ${how} costs no answer`, async () => {
    const made = await scene({
      answer: () => ({ payload: { status: "completed", products: 7 } }),
      buyer: { onInvalid: fails },
    });
    try {
      const answered = await made.buyer.tools.get_products({ buying_mode: "brief", brief: "sports" } as never);
      assert.is(answered.answer.status, "completed");
    } finally {
      await made.close();
    }
  });
}

test.run();
