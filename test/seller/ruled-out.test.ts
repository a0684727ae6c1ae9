/** A request that has what its schema rules out is told what to do about it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Release } from "../../runtime/contract/index.js";
import { invalidRequest } from "../../runtime/seller/tool-error.js";
import { createValidator } from "../../runtime/validate/index.js";

const schema = { type: "object", not: { anyOf: [{ required: ["packages"] }, { required: ["proposal_id"] }] } };

test("what must not be is no riddle", async () => {
  const tools = { buy: { name: "buy", request: "buy.json", arms: {} } } as unknown as Release["tools"];
  const validator = await createValidator({ tools, schemas: async () => ({ "buy.json": JSON.stringify(schema) }) });
  const judged = validator.request("buy", { packages: [] });
  assert.not(judged.ok);
  const { message } = invalidRequest(judged.ok ? [] : judged.errors);
  assert.match(message, "it has a member that the tool's request schema rules out");
  assert.match(message, "leave that out");
  assert.not.match(message, "must NOT be valid");
});

test.run();
