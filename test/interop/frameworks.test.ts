/** A receiver in the frameworks people have: one line each (docs/examples/frameworks), and all of them answer alike. */
import { existsSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Receiver } from "../../runtime/receiver/index.js";
import { createTestReceiver } from "../../runtime/testing/index.js";
import { answersOf, PUBLIC_URL, SENDER, type Seen } from "./framework-suite.js";

const examples = path.resolve(import.meta.dirname, "../../docs/examples/frameworks");
const installed = existsSync(path.join(examples, "node_modules/hono"));
const names = installed ? ["node-http", "fastify", "express", "hono", "fetch"] : ["node-http", "fastify"];

interface Example {
  start(receiver: Receiver, port: number): Server | Promise<Server>;
}

async function answers(name: string): Promise<Record<string, unknown>> {
  const { start } = (await import(path.join(examples, `${name}.ts`))) as Example;
  const made = createTestReceiver({ release, sender: SENDER, publicUrl: PUBLIC_URL, ignoreHost: true });
  for (const route of ["/webhooks/a", "/webhooks/%7Eb"])
    await made.receiver.expect({ route, sender: SENDER, kind: "task" });
  const server = await start(made.receiver as Receiver, 0);
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  try {
    const found = await answersOf((server.address() as AddressInfo).port, made);
    return { ...found, handled: made.seen.map(({ taskId }) => taskId).sort() };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await made.close();
  }
}

const expected = await answers("node-http");

test("the suite is answered as it should be", () => {
  const { whole, handled, ...rest } = expected as Record<string, Seen>;
  assert.equal(whole, { status: 200, body: '{"status":"accepted"}', type: "application/json", challenge: undefined });
  assert.equal(handled, ["chunked", "path", "query", "replayed", "spaced", "twice"]);
  assert.is(rest["the same event again"]!.body, '{"status":"duplicate"}');
  for (const name of ["three megabytes, read", "three megabytes in chunks, read"]) assert.is(rest[name]!.status, 413);
  assert.is(rest["an empty body"]!.challenge, 'Signature error="webhook_signature_digest_mismatch"');
  assert.match(rest["its signature twice"] as never, "webhook_signature_header_malformed");
  assert.match(rest["its media type twice"] as never, "unsupported_media_type");
  assert.is(rest["another route of the app"]!.body, '{"a":[1,2]}');
});

for (const name of names.slice(1))
  test(`${name} answers as node's own server does`, async () => {
    const found = await answers(name);
    const other = Object.keys(expected).filter(
      (what) => JSON.stringify(found[what]) !== JSON.stringify(expected[what]),
    );
    const lines = other.map((what) => `${what}: ${JSON.stringify(found[what])}, not ${JSON.stringify(expected[what])}`);
    assert.is(lines.length, 0, lines.join("\n"));
  });

if (!installed)
  test("express and Hono are not installed", () => {
    console.log("skipped: the frameworks of test/interop/frameworks are not installed; ./run test installs them");
  });

test.run();
