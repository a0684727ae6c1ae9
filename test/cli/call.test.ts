/** Calls from the terminal: tables for people, JSON for programs, no secrets for either; and why an agent refuses. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as auth } from "../../cli/auth.js";
import { register as call } from "../../cli/call.js";
import { register as tools } from "../../cli/tools.js";
import { capabilities, failing, order } from "../buyer/fixtures.js";
import { fromSource } from "../runner/from-source.js";
import { type Agent, type Says, startAgent } from "../support/agent.js";
import { commandFolder, runCommand } from "./run-command.js";

const root = path.resolve(import.meta.dirname, "../..");

const CHALLENGE = 'Bearer realm="r", resource_metadata="/x"';

async function withAgent(job: (agent: Agent, at: ReturnType<typeof commandFolder>) => Promise<void>): Promise<void> {
  const agent = await startAgent({
    tools: ["get_products", "create_media_buy", "paint_fence"],
    answer: ({ tool, args, headers }): Says => {
      if (tool === "get_agent_capabilities") return { payload: capabilities() };
      if (headers.authorization !== "Bearer good") return { http: 401, headers: { "www-authenticate": CHALLENGE } };
      if (tool === "list_tasks") return { payload: { status: "completed", tasks: [] } };
      if (args.brief === "none")
        return failing({ code: "PRODUCT_NOT_FOUND", message: "none", recovery: "correctable" });
      const products = [{ product_id: "p1", name: "Evening", access_token: "hunter2", nested: { a: 1 } }];
      return { payload: { status: "completed", products } };
    },
  });
  const at = commandFolder();
  try {
    await job(agent, at);
  } finally {
    await agent.close();
    at.remove();
  }
}

test("a tool is called by its agent's name, with a request from a file, and told as a table or as JSON", () =>
  withAgent(async (agent, { at }) => {
    writeFileSync(at("request.json"), JSON.stringify({ buying_mode: "brief", brief: "sports" }));
    const acme = { url: agent.mcp, tokenEnv: "TOKEN_OF_CALL_TEST" };
    writeFileSync(at("adbind.agents.json"), JSON.stringify({ agents: { acme } }));
    process.env.TOKEN_OF_CALL_TEST = "good";
    const table = await runCommand(call, ["acme", "get_products", "--json", "request.json"]);
    assert.is(table.code, 0, table.err);
    assert.match(table.out, /^get_products: completed, release 3\.1\.0/);
    assert.match(table.out, /product_id +name +access_token\n +p1 +Evening +\[redacted\]/);
    assert.not.match(table.out, /hunter2/);
    const json = await runCommand(call, ["acme", "get_products", "--json", "request.json", "--output", "json"]);
    const { ok, answer } = JSON.parse(json.out);
    assert.equal([ok, answer.data.products[0].access_token], [true, "[redacted]"]);
    const typed = await runCommand(call, ["acme", "get_products", "--json", '{"buying_mode":"brief","brief":"none"}']);
    assert.match(typed.out, /PRODUCT_NOT_FOUND/);
    writeFileSync(at("request.json"), JSON.stringify({ brief: "none" }));
    const failed = await runCommand(call, ["acme", "get_products", "--json", "request.json"]);
    assert.is(failed.code, 1);
    assert.match(failed.out, /PRODUCT_NOT_FOUND \(correctable\): none/);
    writeFileSync(at("request.json"), "[");
    assert.match((await runCommand(call, ["acme", "get_products", "--json", "request.json"])).err, /no JSON/);
    const nobody = await runCommand(call, ["nobody", "get_products"]);
    assert.equal([nobody.code, /known: acme/.test(nobody.err)], [2, true], nobody.err);
  }));

test("what an agent offers stands beside what the release knows of it", () =>
  withAgent(async (agent) => {
    const { out, code } = await runCommand(tools, [agent.mcp]);
    assert.is(code, 0);
    assert.match(out, /create_media_buy +media-buy +state +may take long/);
    assert.match(out, /paint_fence +not of this release/);
    assert.match(out, /^3 tools at /m);
    const json = JSON.parse((await runCommand(tools, [agent.mcp, "--json"])).out);
    assert.equal(
      json.tools.map(({ tool }: { tool: string }) => tool),
      ["create_media_buy", "get_products", "paint_fence"],
    );
  }));

test("a call that is interrupted prints its key, and its task where it waited for one", async () => {
  let heard = (): void => {};
  let key: unknown;
  const agent = await startAgent({
    answer: async ({ tool, args }): Promise<Says> => {
      if (tool === "get_agent_capabilities") return { payload: capabilities() };
      key ??= args.idempotency_key;
      if (tool === "create_media_buy" && args.ext !== undefined)
        return { payload: { status: "submitted", task_id: "task-7" } };
      heard();
      return new Promise(() => {});
    },
  });
  const at = commandFolder();
  try {
    for (const waits of [false, true]) {
      key = undefined;
      const asked = new Promise<void>((resolve) => (heard = resolve));
      const request = JSON.stringify({ ...(order as object), ...(waits && { ext: { later: true } }) });
      const argv = ["call", agent.mcp, "create_media_buy", "--json", request, ...(waits ? ["--wait"] : [])];
      const env = { ...process.env, ADBIND_CWD: at.folder };
      const child = spawn(process.execPath, [...fromSource, "cli/main.ts", ...argv], { cwd: root, env });
      let out = "";
      child.stdout.on("data", (piece) => (out += piece));
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      await asked;
      child.kill("SIGINT");
      assert.is(await ended, 130);
      assert.match(out, `key: ${key}  (--key repeats`);
      assert.match(out, waits ? "create_media_buy: submitted" : "CALL_ABORTED");
      if (waits) assert.match(out, "task: task-7");
    }
  } finally {
    await agent.close();
    at.remove();
  }
});

test("an agent whose tools cannot be listed is told of with its URL, what it said, and what to do", async () => {
  const at = commandFolder();
  const agent = await startAgent({ answer: () => ({ http: 500 }) });
  try {
    const gone = await runCommand(tools, ["http://127.0.0.1:9/mcp"]);
    assert.is(gone.code, 1);
    assert.match(
      gone.err,
      /^adbind: the agent cannot be asked: .*connect_failed \(http:\/\/127\.0\.0\.1:9\/mcp\): check the URL/m,
    );
    assert.not.match(gone.err, "unexpected");
    const asked = JSON.parse((await runCommand(tools, [`${agent.url}/nothing/mcp`, "--json"])).out);
    assert.is(asked.error.code, "agent_unreachable");
    assert.match(asked.error.message, "HTTP 404");
  } finally {
    await agent.close();
    at.remove();
  }
});

test("why an agent refuses is found out step by step, and what to do is said", () =>
  withAgent(async (agent) => {
    const asked = async (...more: string[]) => {
      const { out, code } = await runCommand(auth, ["diagnose", agent.mcp, "--json", ...more]);
      return { code, ...(JSON.parse(out) as { steps: { check: string; outcome: string }[]; advice: string }) };
    };
    const bare = await asked();
    assert.is(bare.code, 1);
    assert.equal(bare.steps.map(({ check }) => check).slice(1, 3), ["challenge", "issuer"]);
    assert.match(bare.advice, /^Bearer credentials are wanted: ask its operator/);
    const wrong = await asked("--auth", "wrong");
    assert.equal([wrong.code, /are refused/.test(wrong.advice)], [1, true]);
    const good = await asked("--auth", "good");
    assert.equal([good.code, good.advice], [0, "the credentials are good here"]);
    const table = await runCommand(auth, ["diagnose", agent.mcp, "--auth", "good"]);
    assert.match(table.out, /list_tasks with the credentials given +ok +the call was answered/);
  }));

test.run();
