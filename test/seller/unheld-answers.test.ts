/** Answers and errors of handlers that JSON cannot hold: a fault with a reference, over every transport, and nothing is kept. */
import { pino } from "pino";
import * as assert from "uvu/assert";
import { openAuth, ToolError } from "../../runtime/seller/index.js";
import { current, rpc, v1 } from "./a2a-suite.js";
import { buyRequest, sellerOptions } from "./fixture.js";
import { sellerSuite, tool, with_ } from "./mcp-suite.js";

const test = sellerSuite("answers that JSON cannot hold");

const round: { self?: unknown } = {};
round.self = round;

// biome-ignore lint/suspicious/noExplicitAny: one context for replies of every kind
type Any = any;

const answers: Record<string, (ctx: Any) => unknown> = {
  "a BigInt": (ctx) => ctx.complete({ products: [], ext: { rows: 7n } }),
  "an object in itself": (ctx) => ctx.complete({ products: [], ext: { round } }),
  "a failure's details": (ctx) => ctx.fail({ code: "HOUSE_RULE", message: "No.", details: { round } }),
  "an error's details": () => {
    throw new ToolError("HOUSE_RULE", "No.", { details: { rows: 7n } } as never);
  },
};

for (const [what, answer] of Object.entries(answers)) {
  test(`${what} fails the call, with a reference that the log has`, async (context) => {
    const logged: string[] = [];
    const logger = pino({ level: "error" }, { write: (line) => void logged.push(line) });
    const effects: string[] = [];
    const get_products = (_request: unknown, ctx: Any) => {
      ctx.effect(() => void effects.push("done"));
      return answer(ctx);
    };
    const tools = { ...sellerOptions(context.bench).tools, get_products };
    await with_(context, { tools, logger, mode: "production", auth: openAuth }, async (seller) => {
      const args = { buying_mode: "brief", brief: "b" };
      const { status, body } = await tool(seller, "get_products", args);
      assert.is(status, 200);
      const [error] = body.result.structuredContent.errors;
      assert.is(error.code, "CONFIGURATION_ERROR");
      const [reference] = /[0-9a-f-]{36}/.exec(error.message)!;
      assert.match(logged.join(), reference);
      assert.match(logged.join(), "JSON cannot hold");
      const told = await rpc(seller, "SendMessage", current("get_products", args), v1);
      assert.match(JSON.stringify(told.result), "CONFIGURATION_ERROR");
      assert.equal(effects, []);
    });
  });
}

test("such an order is not kept, and may be made again", async (context) => {
  let rows: bigint | number = 7n;
  const create_media_buy = async (request: Any, ctx: Any) => {
    const { data } = (await sellerOptions(context.bench).tools!.create_media_buy!(request, ctx)) as Any;
    return ctx.complete({ ...data, ext: { rows } });
  };
  const tools = { ...sellerOptions(context.bench).tools, create_media_buy };
  await with_(context, { tools }, async (seller) => {
    const first = await tool(seller, "create_media_buy", buyRequest());
    assert.is(first.body.result.structuredContent.proto_error.code, "CONFIGURATION_ERROR");
    rows = 7;
    const second = await tool(seller, "create_media_buy", buyRequest());
    assert.equal(second.body.result.structuredContent.ext, { rows: 7 });
  });
});

test.run();
