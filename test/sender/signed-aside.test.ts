/** Signatures beside the thread that does everything else, while others keep the process's threads busy. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { closeSync, promises as files, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { type AttemptOptions, deliveryHeaders } from "../../runtime/sender/attempt.js";
import { attemptOptionsOf } from "../../runtime/sender/settings.js";
import { memoryReplayStore, staticKeys, verifyWebhook } from "../../runtime/signing/index.js";
import { FakeNetwork, NOW } from "./fixture.js";

/** Threads of libuv's that all of a process shares. */
const THREADS = 4;
const BODY = Buffer.from('{"status":"working"}');
const url = "https://buyer.example/hook";
const pair = generateKeyPairSync("ed25519");
const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: "k", use: "sig", key_ops: ["verify"], alg: "EdDSA" };
const keys = staticKeys([{ ...jwk, proto_use: "request-signing" } as never], {
  sender: "https://seller.example/agent",
});

const optionsOf = (shared: boolean): AttemptOptions => {
  const signer = { key: pair.privateKey, keyid: "k" };
  return attemptOptionsOf({ release, signer, now: () => NOW } as never, { shared }, new FakeNetwork({ at: NOW }).fetch);
};

const headersBy = async (options: AttemptOptions) => {
  const target = { url, auth: null };
  return deliveryHeaders(BODY, { target: target as never, principal: "p", id: "1" }, options);
};

async function isSigned(headers: Readonly<Record<string, string>>): Promise<boolean> {
  const now = () => NOW / 1_000;
  const { ok } = await verifyWebhook(
    { method: "POST", url, headers, body: BODY },
    { keys, now, replay: memoryReplayStore() },
  );
  return ok;
}

for (const shared of [true, false])
  test(`an event is signed on a database that ${shared ? "others share" : "this process has for itself"}`, async () => {
    const options = optionsOf(shared);
    assert.is(options.signsAside, !shared);
    assert.ok(await isSigned(await headersBy(options)));
  });

test("an event is signed while every thread of the process waits for something else", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-test-"));
  const pipe = path.join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  let opened = 0;
  // Each holds a thread until somebody writes.
  const reading = Promise.all(
    Array.from({ length: THREADS }, async () => {
      const file = await files.open(pipe, "r");
      opened += 1;
      await file.close();
    }),
  );
  try {
    assert.ok(await isSigned(await headersBy(optionsOf(false))));
    assert.is(opened, 0);
  } finally {
    closeSync(openSync(pipe, "w"));
    await reading;
    rmSync(folder, { recursive: true });
  }
});

test.run();
