/** What a check makes of an agent that refuses a feature: it asks for something plainer, where a tool has that. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkAgent } from "../../runtime/conformance/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { capabilities, release } from "../buyer/fixtures.js";
import { startAgent } from "../support/agent.js";

const refusal = { code: "UNSUPPORTED_FEATURE", message: "there is none of it here", recovery: "correctable" };

/** Checks of get_signals, asked by a description or by ids, that fail at an agent which refuses some members of a request. */
async function failures(refuses: (name: string) => boolean, says: JsonObject = {}): Promise<string[]> {
  const agent = await startAgent({
    tools: ["get_signals"],
    answer: ({ tool, args }) => {
      if (tool !== "get_signals") return { payload: capabilities() };
      const field = Object.keys(args).find(refuses);
      const context = args.context === undefined ? {} : { context: args.context };
      if (field === undefined) return { payload: { status: "completed", signals: [], ...context } };
      const error = { ...refusal, field, ...says };
      return { payload: { status: "failed", errors: [error], proto_error: error, ...context }, isError: true };
    },
  });
  try {
    const report = await checkAgent({ url: agent.mcp, release, specialisms: ["signal_owned"], transport: "mcp" });
    const { checks } = report.tools.find(({ tool }) => tool === "get_signals")!;
    // It takes invalid requests, too; that is not asked here.
    return checks.filter(({ check, outcome }) => outcome === "failed" && check !== "errors").map(({ check }) => check);
  } finally {
    await agent.close();
  }
}

test("what not every request has may be refused as a feature", async () => {
  assert.equal(await failures(() => false), []);
  assert.equal(await failures((name) => name === "signal_spec"), []);
  assert.equal(await failures((name) => name === "signal_spec", { field: "/signal_spec" }), []);
});

test("an agent that refuses every request answers none", async () => {
  assert.equal(await failures((name) => name.startsWith("signal_")), ["answers"]);
});

test("a refusal that names nothing of the request, or is none, is judged as it stands", async () => {
  const bySpec = (name: string): boolean => name === "signal_spec";
  assert.equal(await failures(bySpec, { field: "nothing_of_it" }), ["answers"]);
  assert.equal(await failures(bySpec, { code: "INVALID_ANSWER" }), ["answers"]);
  assert.equal(await failures(bySpec, { message: "" }), ["answers", "schema"]);
});

test.run();
