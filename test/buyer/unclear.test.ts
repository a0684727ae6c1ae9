/** Answers that do not tell what became of a call: nothing is done twice for them, and what was registered stays. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Failure, JsonObject } from "../../runtime/contract/index.js";
import type { Says } from "../support/agent.js";
import { capabilities, failing, order, type Scene, transports, withScene } from "./fixtures.js";

const rpc = (code: number): Says => ({ rpc: { code, message: "no word of it" } });

const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

/** Title -> what the agent says when it may have acted, and whether the same call may be of use once more. */
const unclear: Readonly<Record<string, readonly [says: Says, again: boolean]>> = {
  "an internal error": [rpc(-32603), true],
  "a server's own error": [rpc(-32000), false],
  "an error of a code that no list has": [rpc(-32099), false],
  "a gateway's own time that is over": [{ http: 408, body: "{}" }, true],
  "a caller that a gateway has given up": [{ http: 499, body: "{}" }, false],
  "an answer that is cut off": [{ http: 200, body: '{"jsonrpc":"2.0","id":1,"res' }, true],
  "a page of a proxy's": [{ http: 200, headers: { "content-type": "text/html" }, body: "<p>fine" }, true],
  "an encoding that was declined": [{ http: 200, headers: { "content-encoding": "br" }, body: "?" }, true],
  "an answer that nests as deep as it can": [
    {
      http: 200,
      body: `{"jsonrpc":"2.0","id":"ID","result":{"structuredContent":{"status":"submitted","task_id":"t","x":${deep}},"content":[],"id":"t","status":{"state":"working","message":{"parts":[{"data":{"task_id":"t","x":${deep}}}]}}}}`,
    },
    false,
  ],
  "an answer without data": [
    { http: 200, body: '{"jsonrpc":"2.0","id":"ID","result":{"content":[],"kind":"x"}}' },
    false,
  ],
};

/** Title -> what says that nothing was done. -32001 is A2A's for a task that is not there, and MCP's SDKs' for the time that is over. */
const refused: Readonly<Record<string, (kind: string) => Says>> = {
  "parameters that are not taken": () => rpc(-32602),
  "a task that is not there": (kind) => (kind === "mcp" ? rpc(-32601) : rpc(-32001)),
};

/** A receiver that notes what is expected of it. */
function noting(): { readonly webhooks: never; readonly expected: Set<unknown> } {
  const expected = new Set<unknown>();
  const receiver = {
    expect: async ({ operationId }: { operationId: string }) => void expected.add(operationId),
    forget: async (_: string, operationId: string) => expected.delete(operationId),
  };
  return {
    expected,
    webhooks: { receiver, url: "https://h.example/x", route: "/x", sender: "https://s.example" } as never,
  };
}

for (const kind of transports) {
  for (const [title, [says, again]] of Object.entries(unclear)) {
    test(`${kind}: ${title} is a lost one`, async () => {
      for (const supported of [false, true]) {
        const { webhooks, expected } = noting();
        const run = async ({ buyer, calls }: Scene): Promise<void> => {
          const called = await buyer.tools.create_media_buy(order);
          assert.is(called.answer.status, "failed");
          assert.is(called.attempts, supported && again ? 4 : 1, "an agent without keys is asked once");
          assert.is(new Set(calls().map(({ args }) => args.idempotency_key)).size, 1);
          assert.is(expected.size, 1, "its webhook is still expected");
        };
        const declares = capabilities({}, { idempotency: { supported } });
        const answer = ({ message }: { message: { id?: unknown } }): Says =>
          "body" in says ? { ...says, body: says.body?.replace('"ID"', JSON.stringify(message.id)) ?? "" } : says;
        await withScene({ kind, declares, answer, buyer: { webhooks } }, run);
      }
    });
  }
}

for (const kind of transports)
  for (const [title, says] of Object.entries(refused))
    test(`${kind}: ${title} is a refusal, and its webhook is not expected any more`, () => {
      const { webhooks, expected } = noting();
      return withScene({ kind, answer: () => says(kind), buyer: { webhooks } }, async ({ buyer }) => {
        const { answer, attempts } = await buyer.tools.create_media_buy(order);
        assert.equal([answer.status, attempts, expected.size], ["failed", 1, 0]);
      });
    });

test("mcp: the time that a gateway waited for the agent is no word of what became of the call", () => {
  const { webhooks, expected } = noting();
  return withScene({ answer: () => rpc(-32001), buyer: { webhooks } }, async ({ buyer }) => {
    assert.equal([(await buyer.tools.create_media_buy(order)).answer.status, expected.size], ["failed", 1]);
  });
});

for (const kind of transports)
  test(`${kind}: a redirection is not followed, and where it leads is told`, () =>
    withScene(
      { kind, answer: () => ({ http: 307, headers: { location: "/elsewhere/" } }) },
      async ({ agent, buyer, calls }) => {
        const { answer, attempts } = await buyer.tools.create_media_buy(order);
        assert.equal([answer.status, attempts, calls().length], ["failed", 1, 1]);
        assert.match(JSON.stringify(answer.data), `HTTP 307 and leads to ${agent.url}/elsewhere/: `);
      },
    ));

/** Title -> what an answer that failed says of itself, and whether the agent may be at work all the same. */
const contradictions: Readonly<Record<string, readonly [payload: JsonObject, open: boolean]>> = {
  "submitted, with a task": [{ status: "submitted", task_id: "t-1" }, true],
  "completed, with its result": [{ status: "completed", media_buy_id: "mb-1", packages: [] }, true],
  "failed, without a word": [{ status: "failed" }, false],
};

for (const kind of transports)
  for (const [title, [payload, open]] of Object.entries(contradictions))
    test(`${kind}: an answer that failed and calls itself ${title} has an error, and is ${open ? "" : "not "}a lost one`, async () => {
      const { webhooks, expected } = noting();
      const body = { jsonrpc: "2.0", id: "ID", result: { content: [], structuredContent: payload, isError: true } };
      const answer = ({ message: { id } }: { message: { id?: unknown } }): Says =>
        kind === "mcp"
          ? { http: 200, body: JSON.stringify(body).replace('"ID"', JSON.stringify(id)) }
          : { payload, isError: true };
      await withScene({ kind, answer, buyer: { webhooks } }, async ({ buyer, calls }) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.is(called.answer.status, "failed");
        const [error] = (called.answer.data as Failure).errors;
        assert.is(error?.code, "UNNAMED_ERROR", JSON.stringify(called.answer));
        if (open) assert.match(error!.message, String(payload.status));
        assert.equal([calls().length, expected.size], [1, open ? 1 : 0]);
      });
    });

test("mcp: an answer in a text that is too long to be read is told so", () => {
  const text = JSON.stringify({ status: "completed", products: [], ext: { x: "x".repeat(1_100_000) } });
  const body = JSON.stringify({ jsonrpc: "2.0", id: "ID", result: { content: [{ type: "text", text }] } });
  const answer = ({ message: { id } }: { message: { id?: unknown } }): Says => ({
    http: 200,
    body: body.replace('"ID"', JSON.stringify(id)),
  });
  return withScene({ answer }, async ({ buyer }) => {
    const { data } = (await buyer.tools.get_products({ buying_mode: "brief", brief: "sports" })).answer;
    assert.match(JSON.stringify(data), /INVALID_ANSWER/);
    assert.match(JSON.stringify(data), /1048576 characters is not read/);
  });
});

for (const kind of ["a2a 1.0", "a2a 0.3"] as const)
  for (const [whose, id, end] of [
    ["another task", "task-9", "failed"],
    ["the task itself", "task-1", "completed"],
  ] as const)
    test(`${kind}: what an agent tells of ${whose} is ${end === "failed" ? "no end of the one asked for" : "its end"}`, () =>
      withScene(
        {
          kind,
          answer: ({ tool }) =>
            tool === "create_media_buy"
              ? { payload: { status: "submitted", task_id: "task-1" }, state: "submitted", taskId: "task-1" }
              : failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" }),
          told: { payload: { status: "completed", media_buy_id: "mb-9", packages: [] }, taskId: id },
        },
        async ({ buyer }) => {
          const called = await buyer.tools.create_media_buy(order);
          const told = await called.waitForCompletion();
          assert.is(told.status, end, JSON.stringify(told));
          assert.is(JSON.stringify(told).includes("mb-9"), end === "completed");
        },
      ));

test.run();
