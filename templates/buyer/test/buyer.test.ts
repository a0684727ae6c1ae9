/** What the buyer does, before an agent that only answers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { carryOut, type MyBuyer, type Requests } from "../src/buyer.js";

const requests = JSON.parse(readFileSync("requests.json", "utf8")) as Requests;

/** A buyer whose agent gives every tool the same answer. */
function answering(status: string, asked: string[]): MyBuyer {
  const tools = new Proxy({} as MyBuyer["tools"], {
    get: (_, tool) => async () => {
      asked.push(String(tool));
      const answer = { status, data: {} };
      return { answer, waitForCompletion: async () => answer };
    },
  });
  return { tools };
}

test("every tool is called, in order", async () => {
  const asked: string[] = [];
  await carryOut(answering("completed", asked), requests);
  assert.deepEqual(asked, Object.keys(requests));
});

test("nothing is called after one that failed", async () => {
  const asked: string[] = [];
  const [first, ...more] = await carryOut(answering("failed", asked), requests);
  assert.deepEqual([first?.status, more, asked.length], ["failed", [], 1]);
});
