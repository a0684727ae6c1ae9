/** The seller over MCP: what stands around a call. */
import { generateKeyPairSync } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { pino } from "pino";
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSeller, openAuth } from "../../runtime/seller/index.js";
import { codeOf } from "../support/thrown.js";
import { buyRequest, mcp, sellerOptions } from "./fixture.js";
import { sellerSuite, tool, with_ } from "./mcp-suite.js";
import { operatorCases } from "./operator.case.js";

const test = sellerSuite("seller over mcp");

test("tools are listed whole where that is asked for, with what they answer, and page by page", async (context) => {
  const listing = { schemas: "full", output: true, pageBytes: 20_000 };
  await with_(context, { listing }, async (seller) => {
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { body } = await mcp(seller, "tools/list", cursor === undefined ? {} : { cursor });
      pages += 1;
      cursor = body.result.nextCursor;
      names.push(...body.result.tools.map(({ name }: { name: string }) => name));
      const [first] = body.result.tools;
      const bytes = JSON.stringify(body.result.tools).length;
      assert.ok(bytes <= 20_002 + body.result.tools.length || body.result.tools.length === 1, `${bytes}`);
      if (first.name === "create_media_buy") assert.ok(first.inputSchema.$defs && first.outputSchema.$defs);
    } while (cursor !== undefined);
    assert.ok(pages > 1);
    const all = (await mcp(context.seller, "tools/list", {})).body.result.tools;
    assert.equal(
      names,
      all.map(({ name }: { name: string }) => name),
    );
    for (const wrong of ["x", "-1", "999", "1.5"]) {
      assert.is((await mcp(seller, "tools/list", { cursor: wrong })).body.error.code, -32602);
    }
  });
});

test("the SDK's client lists tools with self-contained schemas and calls one", async ({ seller }) => {
  const address = await seller.start();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)) as never);
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "get_agent_capabilities"));
  const listing = JSON.stringify(tools);
  for (const [, reference] of listing.matchAll(/"\$ref":"([^"]+)"/g)) assert.match(reference!, /^#/);
  const buy = tools.find(({ name }) => name === "create_media_buy");
  assert.ok(buy?.inputSchema.properties && "idempotency_key" in buy.inputSchema.properties);
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own answer
  const answer: any = await client.callTool({
    name: "get_products",
    arguments: { buying_mode: "brief", brief: "runners", context: { trace: "t" } },
  });
  assert.is(answer.structuredContent.status, "completed");
  assert.equal(answer.structuredContent.context, { trace: "t" });
  assert.equal(JSON.parse(answer.content[0].text), answer.structuredContent);
  assert.is(answer.isError, undefined);
  await client.close();
});

test("a bad request is an answer with pointers, on both layers of the envelope", async ({ seller, bench }) => {
  const request = { ...buyRequest(), packages: [{ product_id: "p", budget: -5 }], context: { trace: "bad" } };
  const { status, body } = await tool(seller, "create_media_buy", request);
  assert.is(status, 200);
  assert.is(body.result.isError, true);
  const { proto_error: error, errors, context } = body.result.structuredContent;
  assert.is(error.code, "INVALID_REQUEST");
  assert.is(error.recovery, "correctable");
  assert.ok(error.issues.some((one: { pointer: string }) => one.pointer === "/packages/0/budget"));
  assert.match(error.field, /^packages\[0\]\./);
  assert.equal(errors[0], error);
  assert.equal(context, { trace: "bad" });
  const { idempotency_key: _key, ...keyless } = buyRequest();
  const missing = await tool(seller, "create_media_buy", keyless);
  assert.is(missing.body.result.structuredContent.proto_error.field, "idempotency_key");
  assert.is(bench.runs, 0);
});

test("what a handler lets slip out stays here", async (context) => {
  const broken = await tool(context.seller, "create_media_buy", buyRequest("prod_broken"));
  assert.match(JSON.stringify(broken.body), /hunter2/, "development shows why");
  await with_(context, { mode: "production", auth: openAuth }, async (seller) => {
    const hidden = await tool(seller, "create_media_buy", buyRequest("prod_broken"));
    assert.not.match(JSON.stringify(hidden.body), /hunter2/);
    assert.is(hidden.body.result.structuredContent.proto_error.code, "CONFIGURATION_ERROR");
  });
});

test("a handler that answers with something else fails its call, which may be made again", async (context) => {
  const logged: string[] = [];
  const logger = pino({ level: "error" }, { write: (line) => void logged.push(line) });
  await with_(context, { logger }, async (seller) => {
    for (let tries = 0; tries < 2; tries++) {
      const { body } = await tool(seller, "create_media_buy", buyRequest("prod_mute"));
      assert.is(body.result.structuredContent.proto_error.code, "CONFIGURATION_ERROR");
    }
  });
  assert.match(logged.join(), /the handler of create_media_buy must answer \{status, data\}/);
});

test("an answer the release refuses is refused in development and reported in production", async (context) => {
  const wrong = await tool(context.seller, "create_media_buy", buyRequest("prod_wrong"));
  assert.is(wrong.body.result.structuredContent.proto_error.code, "INVALID_ANSWER");
  const reports: unknown[] = [];
  const options = {
    mode: "production",
    auth: openAuth,
    onInvalidAnswer: (report: unknown) => void reports.push(report),
  };
  await with_(context, options, async (seller) => {
    const passed = await tool(seller, "create_media_buy", buyRequest("prod_wrong"));
    assert.is(passed.body.result.structuredContent.media_buy_id, 7);
    assert.is(reports.length, 1);
  });
});

test("a listener that fails costs no answer", async (context) => {
  for (const onInvalidAnswer of [() => assert.unreachable("ours"), async () => assert.unreachable("ours")]) {
    await with_(context, { mode: "production", auth: openAuth, onInvalidAnswer }, async (seller) => {
      const passed = await tool(seller, "create_media_buy", buyRequest("prod_wrong"));
      assert.is(passed.body.result.structuredContent.media_buy_id, 7);
    });
  }
});

test("capabilities are what is registered, under both names", async ({ seller }) => {
  const { body } = await tool(seller, "get_agent_capabilities", { context: { a: 1 } });
  const other = await tool(seller, "get_proto_capabilities", { context: { a: 1 } });
  const said = body.result.structuredContent;
  assert.equal(other.body.result.structuredContent, said);
  assert.equal(said.proto.major_versions, [3]);
  assert.equal(said.proto.supported_versions, ["3.1"]);
  assert.equal(said.proto.idempotency, { supported: true, replay_ttl_seconds: 86_400 });
  assert.equal(said.specialisms, ["sales-guaranteed"]);
  assert.equal(said.supported_protocols, ["media_buy"]);
  assert.equal(said.webhook_signing, { supported: false });
});

test("a caller's release is served where it can be, and else refused by name", async (context) => {
  await with_(context, { releases: [release30] }, async (seller) => {
    const ask = (pin: object) => tool(seller, "get_agent_capabilities", pin).then(({ body }) => body.result);
    const old = await ask({ proto_version: "3.0" });
    assert.is(old.structuredContent.proto_version, "3.0");
    assert.is((await ask({ proto_version: "3.1.0" })).structuredContent.proto_version, "3.1");
    assert.is((await ask({ proto_major_version: 3 })).structuredContent.status, "completed");
    assert.equal(old.structuredContent.proto.supported_versions, ["3.1", "3.0"]);
    assert.is((await ask({ proto_version: "3.7" })).structuredContent.proto_version, "3.1", "the newest before it");
    const refused = [
      ...[{ proto_version: "4.0" }, { proto_major_version: 9 }, { proto_version: "nonsense" }],
      // Pre-releases are served exactly or not at all, and a request has one major version.
      ...[{ proto_version: "3.2-beta.1" }, { proto_version: "3.1", proto_major_version: 4 }],
    ];
    for (const pin of refused) {
      const { proto_error: error } = (await ask({ ...pin, context: { v: 1 } })).structuredContent;
      assert.is(error.code, "VERSION_UNSUPPORTED");
      assert.equal(error.details.supported_versions, ["3.1", "3.0"]);
    }
  });
});

test("unknown tools are named, and those the release has are answered with a code", async ({ seller }) => {
  const unknown = await tool(seller, "drop_tables", {});
  assert.is(unknown.body.error.code, -32602);
  assert.is(unknown.body.error.data.proto_error.code, "UNSUPPORTED_FEATURE");
  const lacking = await tool(seller, "get_signals", { context: { a: 1 } });
  assert.is(lacking.body.result.structuredContent.proto_error.code, "UNSUPPORTED_FEATURE");
  assert.equal(lacking.body.result.structuredContent.context, { a: 1 });
});

test("the short way gives what the SDK gives", async ({ seller }) => {
  const calls: [string, object][] = [
    ["get_products", { buying_mode: "brief", brief: "b", context: { é: "\u2028", n: 1e21, "": null } }],
    ["get_products", { buying_mode: "nonsense" }],
    ["get_agent_capabilities", {}],
    ["get_signals", { context: { a: [] } }],
    ["create_media_buy", buyRequest("prod_missing")],
  ];
  const post = async (params: object) =>
    seller.app.inject({
      method: "POST",
      url: "/mcp",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      payload: JSON.stringify({ jsonrpc: "2.0", id: "x", method: "tools/call", params }),
    });
  for (const [name, args] of calls) {
    const short = await post({ name, arguments: args });
    // Metadata of a call is the SDK's to read.
    const long = await post({ name, arguments: args, _meta: {} });
    assert.is(short.body, long.body);
    assert.is(short.statusCode, long.statusCode);
    assert.match(String(short.headers["content-type"]), /^application\/json/);
  }
});

test("calls, failures and replays are counted by tools that are served", async (context) => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  await with_(context, { meter: provider.getMeter("test") }, async (seller) => {
    await tool(seller, "create_media_buy", buyRequest());
    await tool(seller, "create_media_buy", buyRequest());
    await tool(seller, "create_media_buy", buyRequest("prod_poor"));
    await tool(seller, "get_signals", {});
    await reader.forceFlush();
  });
  const found = new Map<string, unknown>();
  for (const { metrics } of exporter.getMetrics().at(-1)!.scopeMetrics) {
    for (const { descriptor, dataPoints } of metrics) {
      for (const { attributes, value } of dataPoints) {
        const labels = Object.values(attributes).join(" ");
        if (typeof value === "number") found.set(`${descriptor.name.replace("adbind.seller.", "")} ${labels}`, value);
      }
    }
  }
  assert.equal(Object.fromEntries(found), {
    "calls create_media_buy mcp completed": 2,
    "calls create_media_buy mcp failed": 1,
    "calls unknown mcp failed": 1,
    "failures create_media_buy HOUSE_RULE": 1,
    "failures unknown UNSUPPORTED_FEATURE": 1,
    "replays create_media_buy": 1,
  });
  await provider.shutdown();
});

test("who it is can be read by whoever verifies what it signs", async (context) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = privateKey.export({ format: "jwk" });
  await with_(context, { signing: { key, keyid: "s1" } }, async (seller) => {
    const brand = (await seller.app.inject("/.well-known/brand.json")).json();
    const entry = brand.agents.find((one: { url: string }) => one.url === "https://seller.example/mcp");
    assert.is(entry.jwks_uri, "https://seller.example/.well-known/jwks.json");
    const { keys } = (await seller.app.inject("/.well-known/jwks.json")).json();
    assert.is(keys[0].proto_use, "request-signing");
    assert.is(keys[0].d, undefined);
    assert.not.match(JSON.stringify(keys), new RegExp(String(key.d)));
  });
});

operatorCases(test);

test("a specialism given in kebab case is claimed like one in snake case", async ({ store, bench }) => {
  const kebab = { specialisms: ["sales-guaranteed"] };
  const seller = await createSeller({ ...sellerOptions(bench), store, ...kebab } as never);
  const { body } = await tool(seller, "get_agent_capabilities", {});
  await seller.close();
  assert.equal(body.result.structuredContent.specialisms, ["sales-guaranteed"]);
  assert.equal(body.result.structuredContent.supported_protocols, ["media_buy"]);
});

test("options that cannot work are refused before anything is served", async ({ store, bench }) => {
  const good = sellerOptions(bench);
  const { create_media_buy: _buy, ...less } = good.tools;
  const bad: [what: string, over: object][] = [
    ["a missing entry point", { tools: less }],
    ["an unknown tool", { tools: { ...good.tools, drop_tables: () => undefined } }],
    ["an unknown specialism", { specialisms: ["sales_of_everything"] }],
    ["a base URL with a query", { baseUrl: "https://seller.example/?a" }],
    ["http in production", { baseUrl: "http://seller.example", mode: "production" }],
    ["orders in anybody's name in production", { mode: "production" }],
    ["production without an address", { mode: "production", auth: openAuth, baseUrl: undefined }],
    ["production with a store that is gone with it", { mode: "production", auth: openAuth, store: undefined }],
    ["a replay window of a minute", { replayTtlSeconds: 60 }],
    ["capabilities the release refuses", { capabilities: { supported_protocols: ["carrots"] } }],
    ["one release twice", { releases: [{ ...release30 }, { ...release30 }] }],
    ["a key that signs nothing", { signing: { key: { kty: "oct", k: "AA" }, keyid: "k" } }],
  ];
  for (const [what, over] of bad) {
    const outcome = await createSeller({ ...good, store, ...over } as never).then(
      () => "made",
      (error: unknown) => (error instanceof AdbindError ? error.code : String(error)),
    );
    assert.is(outcome, "seller_option_invalid", what);
  }
  const listing = { schemas: { published: "/nowhere" } };
  assert.is(await codeOf(() => createSeller({ ...good, store, listing } as never)), "file_unusable");
});

test.run();
