/** A seller that sends no webhooks takes no order that is to be told of by one. */
import * as assert from "uvu/assert";
import { current, rpc, v1 } from "./a2a-suite.js";
import { buyRequest } from "./fixture.js";
import { sellerSuite, tool } from "./mcp-suite.js";

const test = sellerSuite("orders without a sender");

const url = "https://buyer.example/hooks";
const credentials = "c".repeat(40);
const authentication = { schemes: ["Bearer"], credentials };
const asked = {
  push_notification_config: { url, operation_id: "op-1" },
  reporting_webhook: { url, authentication, reporting_frequency: "daily" },
};

for (const [field, config] of Object.entries(asked))
  test(`an order with a ${field} is refused before it is made`, async ({ seller, bench }) => {
    const { body } = await tool(seller, "create_media_buy", buyRequest("prod_ctv_evening", { [field]: config }));
    const [error] = body.result.structuredContent.errors;
    assert.equal([error.code, error.field, error.recovery], ["UNSUPPORTED_FEATURE", field, "correctable"]);
    assert.is(bench.runs, 0);
    await tool(seller, "create_media_buy", buyRequest());
    assert.is(bench.runs, 1, "without it the order is made");
  });

test("an order that registers beside its message is refused over A2A too", async ({ seller, bench }) => {
  const registered = { pushNotificationConfig: asked.push_notification_config };
  const { result } = await rpc(seller, "SendMessage", current("create_media_buy", buyRequest(), registered), v1);
  assert.match(JSON.stringify(result ?? {}), "UNSUPPORTED_FEATURE");
  assert.is(bench.runs, 0);
});

test.run();
