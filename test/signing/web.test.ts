/** The WebCrypto entry in a real browser: the published vectors, and signing then verifying; nothing of node in its graph. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startBrowser } from "../support/browser.js";
import { loadVectors, privateJwk, reword } from "./corpus.js";

const root = path.resolve(import.meta.dirname, "../..");

/** A function of the page. */
type Call = (...args: unknown[]) => Promise<unknown>;

const program = `
  import * as signing from "./runtime/signing/web.ts";
  import { judge, runVector } from "./test/signing/run-vector.ts";
  globalThis.runVectors = async (vectors, run) => {
    const found = [];
    for (const vector of vectors) found.push([vector.file, judge(vector, await runVector(signing, vector, run)) ?? "as expected"]);
    return found;
  };
  globalThis.roundTrip = async (privateJwk, keyid) => {
    const body = new TextEncoder().encode('{"idempotency_key":"k"}');
    const plain = { method: "POST", url: "https://b\\u00fccher.example/hook", headers: {}, body };
    const { headers } = await signing.signWebhook(plain, { key: privateJwk, keyid });
    const { d, ...members } = privateJwk;
    const keys = signing.staticKeys([{ ...members, proto_use: "request-signing" }], { sender: "https://s.example/" });
    const options = { keys, replay: signing.memoryReplayStore() };
    const url = "https://xn--bcher-kva.example/hook";
    const first = await signing.verifyWebhook({ ...plain, url, headers }, options);
    const second = await signing.verifyWebhook({ ...plain, url, headers }, options);
    const secret = "6f1d0c7ab2e94c53a8f07b1e5d2c9a34";
    const mac = await signing.signHmac(body, { secret });
    const hmac = await signing.verifyHmac({ headers: mac, body }, { secrets: { current: secret } });
    return [first.ok, first.json, second.code, hmac.ok, typeof globalThis.process, typeof globalThis.Buffer];
  };
`;

const bundle = async (): Promise<{ text: string; inputs: string[] }> => {
  const result = await build({
    stdin: { contents: program, resolveDir: root, loader: "ts" },
    bundle: true,
    format: "iife",
    platform: "browser",
    conditions: ["adbind-source"],
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  return { text: result.outputFiles[0]!.text, inputs: Object.keys(result.metafile.inputs) };
};

test("the graph of the entry holds nothing of node", async () => {
  // For the browser platform, esbuild fails on any import of a node module.
  const { inputs } = await bundle();
  assert.not(
    inputs.some((file) => /node-crypto|^node:|discovery|runtime\/net/.test(file)),
    inputs.join("\n"),
  );
  assert.ok(inputs.some((file) => file.endsWith("web-crypto.ts")));
});

test("vectors of both profiles and a round trip hold in Chromium, under two words", async () => {
  const browser = await startBrowser();
  if (browser === undefined) return;
  const { text } = await bundle();
  // WebCrypto is for secure contexts; http on loopback is one.
  const server = createServer((_request, response) => {
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><script>${text.replaceAll("</", "<\\/")}</script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    let judged = 0;
    for (const kind of ["webhook", "request"] as const) {
      const published = loadVectors(`${kind}-signing`);
      if (published === undefined) {
        console.log(`skipped: no corpus for ${kind} vectors`);
        continue;
      }
      for (const { word, keys, vectors } of [published, reword(published, "proto")]) {
        const found = await page.evaluate(
          ([list, run]) => (globalThis as never as { runVectors: Call }).runVectors(list, run),
          [vectors, { kind, word, keys }] as const,
        );
        for (const [file, verdict] of found as [string, string][])
          assert.is(verdict, "as expected", `${kind} ${word} ${file}`);
        judged += vectors.length;
      }
    }
    const key = loadVectors("webhook-signing")?.keys[0];
    if (key !== undefined) {
      const outcome = await page.evaluate(
        ([jwk, kid]) => (globalThis as never as { roundTrip: Call }).roundTrip(jwk, kid),
        [privateJwk(key), key.kid] as const,
      );
      assert.equal(outcome, [
        true,
        { idempotency_key: "k" },
        "webhook_signature_replayed",
        true,
        "undefined",
        "undefined",
      ]);
      assert.is(judged, 138);
    }
  } finally {
    await browser.close();
    await new Promise((resolve) => server.close(resolve));
  }
});

test.run();
