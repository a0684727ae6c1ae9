/** What a seller's operator sees of calls, and what callers are told of his faults. */
import { pino } from "pino";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import type { AuditEntry } from "../../runtime/seller/index.js";
import { buyRequest, sellerOptions } from "./fixture.js";
import { type sellerSuite, tool, with_ } from "./mcp-suite.js";

export function operatorCases(test: ReturnType<typeof sellerSuite>): void {
  test("a fault of ours is not told as one that passes; one of what is out of reach is", async (context) => {
    const thrown: { now: unknown } = { now: undefined };
    const tools = {
      ...sellerOptions(context.bench).tools,
      get_products: async () => {
        throw thrown.now;
      },
    };
    const unreachable = new TypeError("fetch failed", {
      cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    });
    await with_(context, { tools, logger: pino({ level: "silent" }) }, async (seller) => {
      for (const [error, code, recovery] of [
        [new TypeError("x is not a function"), "CONFIGURATION_ERROR", "terminal"],
        [unreachable, "SERVICE_UNAVAILABLE", "transient"],
        [new AdbindError("database_unreachable", "gone"), "SERVICE_UNAVAILABLE", "transient"],
      ] as const) {
        thrown.now = error;
        const { proto_error: told } = (await tool(seller, "get_products", { buying_mode: "wholesale" })).body.result
          .structuredContent;
        assert.equal([told.code, told.recovery], [code, recovery], String(error));
      }
    });
  });

  test("each call is audited and traced; an audit that fails fails no call", async (context) => {
    const entries: AuditEntry[] = [];
    const spans: string[] = [];
    const span = { setAttributes: () => span, setStatus: () => span, end: () => void spans.push("ended") };
    const tracer = { startSpan: (name: string) => (spans.push(name), span) };
    const audit = (entry: AuditEntry): void => {
      entries.push(entry);
      throw new Error("the audit is full");
    };
    const logged: string[] = [];
    const logger = pino({ level: "error" }, { write: (line: string) => void logged.push(line) });
    await with_(context, { audit, tracer, logger }, async (seller) => {
      const wanted = buyRequest();
      for (const _ of [1, 2]) await tool(seller, "create_media_buy", wanted);
      await tool(seller, "create_media_buy", buyRequest("prod_missing"));
      const keys = [wanted.idempotency_key, wanted.idempotency_key, "key-prod_missing-0123456789"];
      assert.equal(
        entries.map(({ at: _at, ms: _ms, taskId: _task, ...entry }) => entry),
        [false, true, false].map((replayed, index) => ({
          ...{ principal: "anonymous", tool: "create_media_buy", transport: "mcp", mutating: true, replayed },
          ...(index < 2 ? { status: "completed" } : { status: "failed", code: "PRODUCT_NOT_FOUND" }),
          idempotencyKey: keys[index],
        })),
      );
      assert.equal(spans, Array(3).fill(["answer a call", "ended"]).flat());
      assert.is(logged.filter((line) => line.includes("could not be audited")).length, 3);
    });
  });
}
