/** Agents whose answers have no end, no bottom or no sense: each is a finding of its step, and the run goes on. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { checkAgent } from "../../runtime/conformance/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { until } from "../support/until.js";
import { names, runSmall, smallAgent, suiteOf } from "./small-agent.js";

const MIB = 1024 * 1024;

/** 1 GiB, where somebody reads it. */
function gibibyte(): { body: ReadableStream<Uint8Array>; sent: () => number } {
  const chunk = new Uint8Array(MIB).fill(120);
  let count = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      count++;
      if (count > 1024) controller.close();
      else controller.enqueue(chunk);
    },
  });
  return { body, sent: () => count };
}

const steps = `
id: own
phases:
  - id: p
    steps:
      - {id: asked, task: get_products, validations: [{check: field_present, path: products}]}
      - {id: raw, task: get_products, auth: none, validations: [{check: field_present, path: products}]}
      - {id: after, task: list_accounts, validations: [{check: field_present, path: accounts}]}
`;

/** Runs the three steps; `get_products`, or another request, is answered by `answer`. */
async function judged(answer: (id: unknown) => Response, odd = "get_products") {
  const tools = { get_products: () => ({ products: [] }), list_accounts: () => ({ accounts: [] }) };
  const sound = smallAgent(tools);
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { id, method, params } = JSON.parse(String(init?.body)) as JsonObject;
    const name = (params as JsonObject | undefined)?.name ?? method;
    return name === odd ? answer(id) : sound(url, init);
  };
  return runSmall(suiteOf(steps), tools, { fetch, timeoutMs: 2_000 });
}

for (const type of ["application/json", "text/event-stream"])
  test(`of an answer of 1 GiB as ${type} 16 MiB are read, and the step says so`, async () => {
    const read: (() => number)[] = [];
    const { steps: found } = await judged(() => {
      const { body, sent } = gibibyte();
      read.push(sent);
      return new Response(body, { headers: { "content-type": type } });
    });
    for (const id of ["asked", "raw"]) assert.match(String(found.get(id)?.problem), "the answer has more than 16 MiB");
    assert.is(found.get("after")?.status, "passed");
    assert.is(read.length, 2);
    for (const sent of read) assert.ok(sent() < 20, `${sent()} MiB were asked for`);
  });

test("a stream that tells on and on is closed when the time of its call is over", async () => {
  let open = 0;
  const { steps: found } = await judged(() => {
    let timer: NodeJS.Timeout;
    open++;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        timer = setInterval(() => controller.enqueue(Buffer.from(": still there\n\n")), 50);
      },
      cancel() {
        clearInterval(timer);
        open--;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  assert.match(String(found.get("asked")?.problem), "timed out");
  assert.is(found.get("after")?.status, "passed");
  await until(() => open === 0);
});

const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

test("an answer without a bottom fails its step, as structured content and as text", async () => {
  for (const result of [
    `{"content":[],"structuredContent":${deep}}`,
    JSON.stringify({ content: [{ type: "text", text: deep }] }),
  ]) {
    const { steps: found } = await judged(
      (id) =>
        new Response(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, {
          headers: { "content-type": "application/json" },
        }),
    );
    for (const id of ["asked", "raw"]) assert.match(String(found.get(id)?.problem), "more than 500 levels");
    assert.is(found.get("after")?.status, "passed");
  }
});

test("capabilities that cannot be read are no agent without any", async () => {
  const { report } = await judged(
    () => new Response(gibibyte().body, { headers: { "content-type": "application/json" } }),
    names.capabilitiesTool,
  );
  assert.match(
    report.notices.join("\n"),
    "the agent's capabilities could not be read: the answer has more than 16 MiB",
  );
  assert.not(report.ok);
});

test("a list of tools without an end, and messages that are none of MCP, end the run in one line that says so", async () => {
  const page = (id: unknown) => Response.json({ jsonrpc: "2.0", id, result: { tools: [], nextCursor: "more" } });
  await rejects(() => judged(page, "tools/list"), /its list of tools has more than 50 pages/);
  const broken = (id: unknown) =>
    Response.json({ jsonrpc: "2.0", id, result: { protocolVersion: 7, capabilities: [], serverInfo: "x" } });
  await rejects(
    () => judged(broken, "initialize"),
    /over mcp: the answer is none of MCP: Invalid input: expected string, received number at \/protocolVersion, and 2 more/,
  );
});

async function rejects(job: () => Promise<unknown>, wanted: RegExp): Promise<void> {
  const told = await job().then(
    () => "nothing",
    (error: unknown) => String((error as Error).message),
  );
  assert.match(told, wanted);
}

test("what is no agent card is named so", async () => {
  for (const served of [{ jsonrpc: "2.0", error: { code: -32000, message: "no" } }, [], { name: "x", skills: 7 }])
    await rejects(
      () => runSmall(suiteOf(steps), {}, { transport: "a2a", fetch: async () => Response.json(served) }),
      /over a2a: what https:\/\/agent\.example\/\.well-known\/agent-card\.json answers is no agent card: it lists no skills/,
    );
});

test("a router that is not there, or whose URL is none, is a finding of the probe", async () => {
  const probe = "id: own\nphases: [{id: p, steps: [{id: match, task: trusted_match_invalid_auth_context_probe}]}]";
  for (const endpoint of ["https://router.example/", "data:x", "nowhere"]) {
    const tools = {
      [names.capabilitiesTool]: () => ({
        status: "completed",
        [release.word]: { major_versions: [3] },
        supported_protocols: ["media_buy"],
        trusted_match: { endpoint },
      }),
    };
    const sound = smallAgent(tools);
    const { steps: found } = await runSmall(suiteOf(probe), tools, {
      fetch: (url, init) => (String(url).includes("router") ? Promise.reject(new Error("gone")) : sound(url, init)),
    });
    assert.is(found.get("match")?.status, "failed", endpoint);
  }
});

test("adbind check says in one line what is wrong with an initialize answer, and with a list of tools", async () => {
  const result: Record<string, JsonObject> = {
    initialize: { protocolVersion: 7, capabilities: [], serverInfo: "x" },
    "tools/list": { tools: [{ name: 7 }, { nome: "x" }] },
  };
  const said: Record<string, string> = {};
  for (const odd of Object.keys(result)) {
    const sound = smallAgent({});
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { id, method } = (body === "" ? {} : JSON.parse(body)) as JsonObject;
      if (method === "server/discover" || body === "") return void response.writeHead(405).end();
      const made =
        method === odd ? Response.json({ jsonrpc: "2.0", id, result: result[odd] }) : await sound("", { body });
      response.writeHead(made.status, { "content-type": "application/json" }).end(await made.text());
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await promise;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const report = await checkAgent({ url, release, specialisms: ["sales_guaranteed"], transport: "mcp" });
    server.close();
    said[odd] = String(report.problem);
  }
  assert.match(
    String(said.initialize),
    /initialize: Invalid input: expected string, received number at \/protocolVersion, and 2 more$/,
  );
  assert.match(
    String(said["tools/list"]),
    /tools\/list: Invalid input: expected string, received number at \/tools\/0\/name, and \d more$/,
  );
});

test.run();
