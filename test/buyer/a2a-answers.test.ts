/** What agents over A2A answer beside a task that is plainly one: messages of a task, states of another release, ends without data. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { Failure, JsonObject } from "../../runtime/contract/index.js";
import { capabilities, order } from "./fixtures.js";

type Version = "0.3" | "1.0";
type Buyer = ReturnType<typeof createBuyer<typeof release>>;

interface Asked {
  readonly method: string;
  readonly params: JsonObject & { readonly message?: JsonObject };
}

interface AgentOptions {
  /** What an order is answered with, a `result`. */
  readonly answer?: (asked: Asked) => JsonObject;
  /** What a task is, when it is asked for; by default none is known. */
  readonly told?: () => JsonObject;
  /** Members of the answer to an order that stand in place of the usual ones. */
  readonly envelope?: JsonObject;
  /** Where the card is. */
  readonly at?: string;
  readonly card?: (url: string) => JsonObject;
}

const data = (version: Version, value: JsonObject): JsonObject => ({
  ...(version === "0.3" && { kind: "data" }),
  data: value,
});
const state = (version: Version, name: string): string =>
  version === "0.3" ? name : `TASK_STATE_${name.toUpperCase().replaceAll("-", "_")}`;
const task = (version: Version, name: string, more: JsonObject = {}): JsonObject => {
  const inner = { id: "task-1", contextId: "context-1", status: { state: state(version, name) }, ...more };
  return version === "0.3" ? { kind: "task", ...inner } : inner;
};
const message = (version: Version, parts: JsonObject[]): JsonObject => {
  const role = version === "0.3" ? "agent" : "ROLE_AGENT";
  const inner = { messageId: "message-1", taskId: "task-1", contextId: "context-1", role, parts };
  return version === "0.3" ? { kind: "message", ...inner } : { message: inner };
};
const bought = (version: Version): JsonObject => ({
  artifacts: [{ artifactId: "a", parts: [data(version, { status: "completed", media_buy_id: "mb-1", packages: [] })] }],
});
/** A task as an answer to a message: 1.0 wraps it. */
const wrapped = (version: Version, one: JsonObject): JsonObject => (version === "0.3" ? one : { task: one });

const cardOf = (version: Version, url: string): JsonObject => ({
  ...{ name: "agent", description: "agent", version: "1", capabilities: {}, skills: [] },
  ...{ defaultInputModes: ["application/json"], defaultOutputModes: ["application/json"] },
  ...(version === "0.3"
    ? { protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC" }
    : { supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }),
});

async function withAgent(
  version: Version,
  { answer = () => ({}), told, envelope, at = "/.well-known/agent-card.json", card }: AgentOptions,
  work: (buyer: Buyer, asked: Asked[]) => Promise<void>,
): Promise<void> {
  const heard: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const say = (status: number, body: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "GET")
      return request.url === at ? say(200, card?.(url) ?? cardOf(version, `${url}/a2a`)) : say(404, {});
    const asked = JSON.parse(text) as Asked & { readonly id: unknown };
    const reply = (more: JsonObject): void => say(200, { jsonrpc: "2.0", id: asked.id, ...more });
    const { skill } = ((asked.params.message?.parts as { data?: { skill?: string } }[])?.[0]?.data ?? {}) as JsonObject;
    if (String(skill).endsWith("capabilities")) {
      const artifacts = [{ artifactId: "a", parts: [data(version, capabilities())] }];
      return reply({ result: wrapped(version, task(version, "completed", { artifacts })) });
    }
    heard.push(asked);
    const none = { error: { code: -32001, message: "Task not found" } };
    if (skill === "create_media_buy") return reply({ result: answer(asked), ...envelope });
    reply(asked.params.message === undefined && told !== undefined ? { result: told() } : none);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const buyer = createBuyer({
    ...{ release, agent: { url, transport: "a2a" }, allowLocal: true, pause: async () => {} },
    ...{ retry: { attempts: 1 }, giveUpMs: 10_000 },
  });
  try {
    await work(buyer, heard);
  } finally {
    await buyer.close();
    server.closeAllConnections();
    server.close();
  }
}

const firstOf = (answer: unknown): JsonObject => ((answer as { data: Failure }).data.errors[0] ?? {}) as never;

for (const version of ["0.3", "1.0"] as const) {
  test(`${version}: a task that is completed without data is no success`, async () => {
    const text = version === "0.3" ? { kind: "text", text: "All done" } : { text: "All done" };
    for (const more of [{}, { artifacts: [{ artifactId: "a", parts: [text] }] }]) {
      await withAgent(version, { answer: () => wrapped(version, task(version, "completed", more)) }, async (buyer) => {
        const { answer } = await buyer.tools.create_media_buy(order);
        assert.is(answer.status, "failed");
        const { code, message } = firstOf(answer);
        assert.is(code, "INVALID_ANSWER");
        if ("artifacts" in more) assert.match(String(message), "All done");
      });
    }
  });

  for (const name of ["unknown", "on-hold"])
    test(`${version}: a task in the state ${name} is asked for until it has ended`, () => {
      let asked = 0;
      return withAgent(
        version,
        {
          answer: () => wrapped(version, task(version, name)),
          told: () => (++asked < 3 ? task(version, name) : task(version, "completed", bought(version))),
        },
        async (buyer, heard) => {
          const called = await buyer.tools.create_media_buy(order);
          assert.equal([called.answer.status, called.answer.taskId], ["working", "task-1"]);
          const end = await called.waitForCompletion();
          assert.is(end.status, "completed", JSON.stringify(end));
          assert.is(asked, 3);
          assert.is(heard.filter(({ params }) => JSON.stringify(params).includes("create_media_buy")).length, 1);
        },
      );
    });

  for (const name of ["submitted", "working"])
    test(`${version}: a task that is ${name}, and has no data meanwhile, is waited for however often it is asked for`, () => {
      let asked = 0;
      return withAgent(
        version,
        {
          answer: () => wrapped(version, task(version, name)),
          told: () => (++asked < 12 ? task(version, name) : task(version, "completed", bought(version))),
        },
        async (buyer) => {
          const called = await buyer.tools.create_media_buy(order);
          const end = await called.waitForCompletion();
          assert.equal([end.status, asked], ["completed", 12], JSON.stringify(end));
        },
      );
    });

  test(`${version}: the answer to another request is none, and one without an id is this one's`, async () => {
    const answer = (): JsonObject => wrapped(version, task(version, "completed", bought(version)));
    for (const [id, status] of [
      ["of-another", "failed"],
      [null, "completed"],
    ] as const)
      await withAgent(version, { answer, envelope: { id } }, async (buyer) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, called.attempts], [status, 1]);
        if (id !== null) assert.match(String(firstOf(called.answer).message), /answered another request: of-another/);
      });
  });

  test(`${version}: an answer with both a result and an error is neither`, async () => {
    const answer = (): JsonObject => wrapped(version, task(version, "completed", bought(version)));
    for (const [error, status] of [
      [{ code: -32603, message: "boom" }, "failed"],
      [null, "completed"],
    ] as const)
      await withAgent(version, { answer, envelope: { error } }, async (buyer) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, called.attempts], [status, 1], JSON.stringify(called.answer));
        if (error !== null) assert.match(String(firstOf(called.answer).message), /both a result and an error/);
      });
  });

  test(`${version}: the task that a message names is followed, with data in it and without`, async () => {
    for (const parts of [[data(version, { status: "submitted" })], []]) {
      const told = (): JsonObject => task(version, "completed", bought(version));
      await withAgent(version, { answer: () => message(version, parts), told }, async (buyer) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.is(called.answer.status, parts.length > 0 ? "submitted" : "working");
        assert.is((await called.waitForCompletion()).status, "completed");
      });
    }
  });

  test(`${version}: the answer to a question that a message brought goes on with its task`, () => {
    const asking = message(version, [data(version, { status: "input-required", reason: "APPROVAL_REQUIRED" })]);
    return withAgent(version, { answer: () => asking }, async (buyer, heard) => {
      const called = await buyer.tools.create_media_buy(order);
      assert.is(called.answer.status, "input-required");
      await called.respond({ ext: { approved: true } });
      const { taskId, contextId } = heard.at(-1)!.params.message as JsonObject;
      assert.equal([taskId, contextId], ["task-1", "context-1"]);
    });
  });

  test(`${version}: a card is found where older agents have it`, () =>
    withAgent(
      version,
      { at: "/.well-known/agent.json", answer: () => wrapped(version, task(version, "completed", bought(version))) },
      async (buyer) => {
        const { answer } = await buyer.tools.create_media_buy(order);
        assert.is(answer.status, "completed", JSON.stringify(answer));
      },
    ));
}

test("a card whose places are none is no card, in words that say so", () =>
  withAgent("1.0", { card: (url) => ({ ...cardOf("1.0", url), supportedInterfaces: [null] }) }, async (buyer) => {
    const { answer } = await buyer.tools.create_media_buy(order);
    assert.match(String(firstOf(answer).message), /is no agent card: it lists no skills, or places that are none/);
  }));

test("a card that names no place to call is said to, and nothing is tried again", async () => {
  const interfaces = {
    "HTTP+JSON": (url: string) => ({
      supportedInterfaces: [{ url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
    }),
    "/a2a": () => ({ supportedInterfaces: [{ url: "/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }),
  };
  for (const [named, more] of Object.entries(interfaces)) {
    const card = (url: string): JsonObject => ({ ...cardOf("1.0", url), ...more(url) });
    await withAgent("1.0", { card }, async (buyer) => {
      const { answer, recovery, attempts } = await buyer.tools.create_media_buy(order);
      assert.equal([answer.status, recovery, attempts], ["failed", "terminal", 0]);
      const words = String(firstOf(answer).message);
      assert.ok(words.includes("card") && words.includes(named), words);
    });
  }
});

test.run();
