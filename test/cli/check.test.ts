import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/check.js";
import { openSeller as openLibrarySeller } from "../../runtime/behaviours/index.js";
import { checkAgent } from "../../runtime/conformance/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { capabilities, failing, release } from "../buyer/fixtures.js";
import { newBench, openSeller } from "../seller/fixture.js";
import { type AgentOptions, type Says, startAgent } from "../support/agent.js";
import { tempFolder } from "../support/release.js";
import { runCommand } from "./run-command.js";

interface Checked {
  readonly ok: boolean;
  readonly failed: number;
  readonly problem?: string;
  readonly tools: { tool: string; required: boolean; checks: { check: string; outcome: string; detail?: string }[] }[];
}

const check = async (url: string, ...more: string[]): Promise<{ code: number; report: Checked; stdout: string }> => {
  const done = await runCommand(register, [url, "--specialism", "sales_guaranteed", "--json", ...more]);
  return { code: done.code, report: JSON.parse(done.out || "null"), stdout: done.out };
};

const outcome = ({ tools }: Checked, tool: string): Record<string, string> =>
  Object.fromEntries(tools.find((one) => one.tool === tool)?.checks.map((one) => [one.check, one.outcome]) ?? []);

test("a seller of ours passes what it claims, over both transports, and nothing of it is changed", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-check-"));
  const store = openSqliteStore({ path: path.join(folder, "seller.db") });
  const bench = newBench();
  const port = await freePort();
  const seller = await openSeller(bench, { store, baseUrl: `http://127.0.0.1:${port}` });
  const url = await seller.start({ port });
  try {
    for (const [target, transport] of [
      [`${url}/mcp`, "mcp"],
      [url, "a2a"],
    ] as const) {
      const { code, report, stdout } = await check(target, "--transport", transport);
      const required = report.tools.filter((one) => one.required).flatMap((one) => one.checks);
      assert.equal(
        required.filter((one) => one.outcome === "failed"),
        [],
        stdout,
      );
      assert.equal([code, report.ok], [0, true], stdout);
      assert.equal(outcome(report, "get_products"), {
        ...{ offered: "passed", answers: "passed", schema: "passed", context: "passed" },
        ...{ unknown_fields: "passed", errors: outcome(report, "get_products").errors },
      });
      assert.is(outcome(report, "create_media_buy").answers, "skipped");
      assert.is(outcome(report, "create_media_buy").errors, "passed");
      assert.is(bench.runs, 0);
    }
    await check(`${url}/mcp`, "--mutating");
    assert.ok(bench.runs > 0);
  } finally {
    await seller.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const tools = ["get_products", "create_media_buy", "get_media_buys", "list_accounts", "sync_creatives"];

async function faulty(answer: AgentOptions["answer"], offered = tools): Promise<Checked & { code: number }> {
  const agent = await startAgent({
    tools: offered,
    answer: (heard, count): Says | Promise<Says> =>
      heard.tool === "get_agent_capabilities" ? { payload: capabilities() } : answer(heard, count),
  });
  try {
    const { code, report } = await check(agent.mcp);
    return { ...report, code };
  } finally {
    await agent.close();
  }
}

const products: JsonObject = { products: [] };

test("each fault of an agent fails its own check", async () => {
  const silent = await faulty(() => ({ payload: products }));
  assert.is(silent.code, 1);
  assert.is(outcome(silent, "get_products").context, "failed");
  assert.is(outcome(silent, "create_media_buy").errors, "failed", "an invalid request was answered");

  const strict = await faulty(({ args }) =>
    Object.keys(args).some((name) => name.startsWith("x_unknown"))
      ? failing({ code: "INVALID_REQUEST", message: "unknown member" })
      : { payload: { ...products, context: args.context } },
  );
  assert.equal(
    [outcome(strict, "get_products").context, outcome(strict, "get_products").unknown_fields],
    ["passed", "failed"],
  );

  const wrong = await faulty(({ args }) => ({ payload: { products: 7, context: args.context } }));
  assert.is(outcome(wrong, "get_products").schema, "failed");

  const mute = await faulty(() => ({ payload: { errors: [{ code: "MADE_UP", message: "no" }] }, isError: true }));
  assert.is(outcome(mute, "create_media_buy").errors, "failed", "neither in the table nor with a recovery");

  const missing = await faulty(() => ({ payload: products }), ["get_products"]);
  assert.is(outcome(missing, "create_media_buy").offered, "failed");
});

/** Calls of a sound seller of the library, as an agent passes them on. */
async function soundSeller() {
  const { seller, close } = await openLibrarySeller({
    release,
    specialisms: ["sales_guaranteed"],
    name: "Sound",
    database: `sqlite:${path.join(tempFolder(), "seller.db")}`,
    baseUrl: "http://127.0.0.1",
    mode: "development",
    logger: pino({ level: "silent" }),
  });
  const says = async (tool: string, args: JsonObject) => {
    const called = await seller.call({ tool, args, transport: "mcp", identity: { principal: "buyer" } });
    return { payload: called.payload, isError: called.failed };
  };
  return { says, close };
}

type Sound = Awaited<ReturnType<typeof soundSeller>>;
type Broken = (tool: string, args: JsonObject, says: Sound["says"]) => Says | Promise<Says>;

const errors =
  (error: JsonObject): Broken =>
  async (tool, args, says) => {
    const sound = await says(tool, args);
    const context = args.context === undefined ? {} : { context: args.context };
    const payload = { status: "failed", errors: [error], proto_error: error, ...context };
    return tool === "get_products" ? { payload, isError: true } : sound;
  };

/** Each is sound but for one thing. */
const broken: Readonly<Record<string, Broken>> = {
  "its own answers are not valid": errors({ code: "INVALID_ANSWER", message: "no /products", recovery: "terminal" }),
  "it is always out of order": errors({ code: "SERVICE_UNAVAILABLE", message: "try again", recovery: "transient" }),
  "it lists a tool it has not": errors({ code: "UNSUPPORTED_FEATURE", message: "not here", recovery: "correctable" }),
  "it has codes of its own for its own faults": errors({ code: "NULL_POINTER", message: "at 7", recovery: "terminal" }),
  "it lets nobody in": errors({ code: "AUTH_REQUIRED", message: "who?", recovery: "correctable" }),
  "it refuses what is valid, and does not say why": errors({
    ...{ code: "INVALID_REQUEST", message: "no", recovery: "correctable" },
  }),
  "an error has no message": errors({ code: "PRODUCT_NOT_FOUND", message: "", recovery: "correctable" }),
  async "a field is missing"(tool, args, says) {
    const { payload, ...more } = await says(tool, args);
    const { products: _, ...rest } = payload;
    return { payload: tool === "get_products" ? rest : payload, ...more };
  },
  async "context is dropped"(tool, args, says) {
    const { payload, ...more } = await says(tool, args);
    const { context: _, ...rest } = payload;
    return { payload: rest, ...more };
  },
  async "unknown fields are refused"(tool, args, says) {
    const sound = await says(tool, args);
    const unknown = Object.keys(args).find((name) => name.startsWith("x_"));
    return unknown === undefined
      ? sound
      : failing({ code: "INVALID_REQUEST", message: "what is that?", field: unknown, recovery: "correctable" });
  },
  async "what is invalid is answered"(tool, args, says) {
    const sound = await says(tool, args);
    const answers = { products: [], media_buy_id: "mb_1", packages: [], confirmed_at: null, revision: 1 };
    return sound.isError === true ? { payload: { status: "completed", ...answers, context: args.context } } : sound;
  },
  async "it cannot book"(tool, args, says) {
    const fault = { code: "SERVICE_UNAVAILABLE", message: "try again", recovery: "transient" };
    return tool === "create_media_buy" && args.packages !== undefined ? failing(fault) : says(tool, args);
  },
};

test("a sound seller passes, orders too; each of a dozen broken ones fails", async () => {
  const sound = await soundSeller();
  const listed = [...(release.specialisms.sales_guaranteed.exercised as readonly string[])];
  const checked = async (answer: Broken, tools = listed) => {
    const agent = await startAgent({ tools, answer: ({ tool, args }) => answer(tool, args, sound.says) });
    try {
      const specialisms = ["sales_guaranteed"];
      return await checkAgent({ url: agent.mcp, release, specialisms, mutating: true, transport: "mcp" });
    } finally {
      await agent.close();
    }
  };
  try {
    const pass: Broken = (tool, args, says) => says(tool, args);
    // Twice: nothing of the first run is in the way of the second.
    for (const run of [1, 2]) {
      const good = await checked(pass);
      const faults = good.tools.flatMap(({ tool, checks }) =>
        checks.filter(({ outcome }) => outcome === "failed").map((one) => ({ tool, ...one })),
      );
      assert.equal(faults, [], `run ${run}`);
      assert.ok(good.passed > 20, `${good.passed}`);
      assert.equal(good.missing, []);
    }
    for (const [what, answer] of Object.entries(broken)) assert.is((await checked(answer)).ok, false, what);
    const lacking = await checked(
      pass,
      listed.filter((tool) => tool !== "create_media_buy"),
    );
    assert.equal([lacking.ok, lacking.missing], [false, ["create_media_buy"]]);
  } finally {
    await sound.close();
  }
});

test("an agent that is not there is a report; a specialism that is not there is a wrong command line", async () => {
  const agent = await startAgent({ answer: () => ({ payload: {} }) });
  await agent.close();
  const gone = await check(agent.mcp);
  assert.is(gone.code, 1);
  assert.match(gone.report.problem ?? "", /SERVICE_UNAVAILABLE/);
  const unknown = await runCommand(register, [agent.mcp, "--specialism", "sales_guarantee"]);
  assert.is(unknown.code, 2);
  assert.match(unknown.err, /sales_guaranteed/);
});

test("for people the report is text, and nothing of the agent's moves their terminal", async () => {
  const red = "\u001b[31mred";
  const agent = await startAgent({
    tools: ["get_products"],
    answer: ({ tool }) =>
      tool === "get_agent_capabilities"
        ? { payload: capabilities() }
        : { payload: { errors: [{ code: red, message: "no" }] }, isError: true },
  });
  try {
    const { code, out } = await runCommand(register, [agent.mcp, "--specialism", "sales_guaranteed"]);
    assert.is(code, 1);
    assert.match(out, /^get_products\n {2}ok +offered +the agent lists the tool$/m);
    assert.match(out, /^ {2}FAIL +errors +\?\[31mred: neither in the table nor with a recovery$/m);
    assert.match(out, /^create_media_buy\n {2}FAIL +offered/m);
    assert.match(out, /^sales_guaranteed of 3\.1\.0\nchecks: \d+ passed, \d+ failed, \d+ skipped\n$/m);
    assert.not.ok(out.includes("\u001b"));
  } finally {
    await agent.close();
  }
  const gone = await runCommand(register, [agent.mcp, "--specialism", "sales_guaranteed"]);
  assert.equal([gone.code, /nothing could be asked: SERVICE_UNAVAILABLE/.test(gone.out)], [1, true]);
});

test("a command line that cannot be meant asks nobody, and says what would do", async () => {
  const url = "http://127.0.0.1:9/mcp";
  const claim = ["--specialism", "sales_guaranteed"];
  for (const [argv, remedy] of [
    [["seller.example", ...claim], /scheme and host/],
    [[url, ...claim, "--timeout", "soon"], /give e\.g\. 30/],
    [[url, ...claim, "--transport", "rest"], /mcp, a2a or auto/],
    [[url], /--specialism with one of .*sales_guaranteed/],
    [[url, ...claim, "--release", "9.9.9"], /a path, or word@version: proto@3\.0\.0, proto@3\.1\.0/],
  ] as const) {
    const { code, err } = await runCommand(register, argv);
    assert.is(code, 2, argv.join(" "));
    assert.match(err, remedy);
  }
});

test.run();
