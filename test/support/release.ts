/** A small release made for a test, and a temporary folder to put it in. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export type Files = Record<string, unknown>;

const folders: string[] = [];
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed when the process ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-test-"));
  folders.push(folder);
  return folder;
}

const draft = "http://json-schema.org/draft-07/schema#";

/** A schema file with an id as releases have them. */
export const schema = (file: string, body: object): object => ({
  $schema: draft,
  $id: `/schemas/1.2.3/${file}`,
  ...body,
});

const text = { type: "string" };

const manifest = (): object => ({
  proto_version: "1.2.3",
  generated_at: "2026-01-02T03:04:05Z",
  tools: {
    place_order: {
      protocol: "media-buy",
      mutating: true,
      request_schema: "media-buy/place-order-request.json",
      response_schema: "media-buy/place-order-response.json",
      async_response_schemas: [
        "media-buy/place-order-async-response-working.json",
        "media-buy/place-order-async-response-submitted.json",
      ],
      specialisms: ["selling"],
      added_in: "1.1.0",
    },
    list_orders: {
      protocol: "media-buy",
      mutating: false,
      request_schema: "media-buy/list-orders-request.json",
      response_schema: "media-buy/list-orders-response.json",
      async_response_schemas: [],
      specialisms: ["browsing", "selling"],
      deprecated_in: "1.2.0",
    },
    end_session: {
      protocol: "sponsored-intelligence",
      mutating: true,
      request_schema: "session/end-session-request.json",
      response_schema: "session/end-session-response.json",
      async_response_schemas: [],
    },
  },
  error_codes: {
    NOT_FOUND: {
      recovery: "terminal",
      description: "It is not there. Nobody knows it.",
      suggestion: "Ask for another.",
    },
    BUSY: { recovery: "transient", description: "Too much to do.", suggestion: "Wait.", added_in: "1.1.0" },
  },
  error_code_policy: { default_unknown_recovery: "transient", note: "Other codes may come; retry them." },
  specialisms: {
    selling: {
      protocol: "media-buy",
      title: "Selling",
      entry_point_tools: ["place_order"],
      exercised_tools: ["place_order", "list_orders", "expect_webhook"],
    },
    browsing: { protocol: "media-buy", entry_point_tools: ["list_orders"], exercised_tools: ["list_orders"] },
  },
});

/** What several tools lean on. */
const sharedSchemas = (): Files => ({
  "core/error.json": schema("core/error.json", {
    title: "Error",
    description: "What went wrong. And more */ words.",
    type: "object",
    properties: { code: text, message: text, issues: { type: "array", items: { $ref: "#/$defs/issue" } } },
    required: ["code", "message"],
    additionalProperties: true,
    $defs: { issue: { type: "object", properties: { pointer: text }, required: ["pointer"] } },
  }),
  "core/line.json": schema("core/line.json", {
    title: "Line",
    type: "object",
    properties: { product_id: text, parts: { type: "array", items: { $ref: "/schemas/1.2.3/core/line.json" } } },
    required: ["product_id"],
    additionalProperties: false,
  }),
  "enums/order-status.json": schema("enums/order-status.json", { title: "Order Status", enum: ["active", "ended"] }),
});

/** Of the tool that may take long. */
const placeOrderSchemas = (): Files => ({
  "media-buy/place-order-request.json": schema("media-buy/place-order-request.json", {
    title: "Place Order Request",
    description: "Places an order. It may take long, e.g. days.",
    type: "object",
    properties: {
      idempotency_key: { type: "string", minLength: 16 },
      lines: {
        type: "array",
        items: { $ref: "/schemas/1.2.3/core/line.json", description: "One thing to buy. Or more." },
      },
      note: { type: ["string", "null"] },
    },
    required: ["idempotency_key", "lines"],
    additionalProperties: false,
  }),
  "media-buy/place-order-response.json": schema("media-buy/place-order-response.json", {
    title: "Place Order Response",
    oneOf: [
      {
        title: "Place Order Success",
        type: "object",
        properties: { order_id: text, status: { $ref: "/schemas/1.2.3/enums/order-status.json" } },
        required: ["order_id"],
      },
      {
        title: "Place Order Failure",
        type: "object",
        properties: {
          errors: { type: "array", items: { $ref: "/schemas/1.2.3/core/error.json" } },
          conflicting_id: text,
        },
        required: ["errors"],
      },
    ],
  }),
  "media-buy/place-order-async-response-working.json": schema("media-buy/place-order-async-response-working.json", {
    title: "Place Order Working",
    type: "object",
    properties: { percentage: { type: "number" } },
  }),
  "media-buy/place-order-async-response-submitted.json": schema("media-buy/place-order-async-response-submitted.json", {
    title: "Place Order Submitted",
    type: "object",
    properties: { status: { const: "submitted" }, task_id: text },
    required: ["status", "task_id"],
  }),
});

/** Of the tools that answer at once. */
const otherSchemas = (): Files => ({
  "media-buy/list-orders-request.json": schema("media-buy/list-orders-request.json", {
    title: "List Orders Request",
    type: "object",
  }),
  "media-buy/list-orders-response.json": schema("media-buy/list-orders-response.json", {
    title: "List Orders Response",
    type: "object",
    properties: {
      orders: { type: "array", items: { type: "object", properties: { order_id: text }, required: ["order_id"] } },
    },
    required: ["orders"],
  }),
  "session/end-session-request.json": schema("session/end-session-request.json", {
    title: "End Session Request",
    description: "Ends a session. Naturally idempotent: ending twice is ending once.",
    type: "object",
    properties: { session_id: text },
    required: ["session_id"],
  }),
  "session/end-session-response.json": schema("session/end-session-response.json", {
    title: "End Session Response",
    type: "object",
    properties: { ended: { type: "boolean" } },
    required: ["ended"],
  }),
});

/**
 * One release of three tools over two surfaces: an asynchronous mutating one, a reading one, and one that is naturally
 * idempotent; two codes, two specialisms, a shared error, a recursive type and a reference into `$defs`.
 */
export const smallRelease = (): Files => ({
  "manifest.json": manifest(),
  ...sharedSchemas(),
  ...placeOrderSchemas(),
  ...otherSchemas(),
});

/** Writes files, objects as JSON and strings as they are; undefined leaves a file out. */
export function writeRelease(files: Files, folder = tempFolder()): string {
  for (const [file, content] of Object.entries(files)) {
    if (content === undefined) continue;
    const full = path.join(folder, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  return folder;
}

/** The small release after a change to its files. */
// biome-ignore lint/suspicious/noExplicitAny: a test reaches into JSON it wrote itself
export function changedRelease(change: (files: Record<string, any>) => void): string {
  const files = smallRelease();
  change(files);
  return writeRelease(files);
}
