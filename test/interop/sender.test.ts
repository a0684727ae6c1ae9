/** What our sender delivers, before the graders of the protocol's own conformance runner. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";

const WORD = "adcp";
const package_ = path.join(import.meta.dirname, "peer/node_modules/@adcp/sdk/package.json");
const installed = existsSync(package_);
const load = createRequire(import.meta.url);
const peerFile = (file: string) => load(path.join(path.dirname(package_), "dist/lib", file));

// biome-ignore lint/suspicious/noExplicitAny: the peer's own types are not ours to import
type Any = any;

const grade = async (peer: Any, task: string, step: object, state: Any, options: object): Promise<Any> =>
  peer.executeWebhookAssertionStep(
    { id: `grade_${task}`, title: task, task, triggered_by: "create", timeout_seconds: 8, ...step },
    "phase",
    {},
    [],
    options,
    state,
  );

const retry = {
  id: "keys",
  task: "expect_webhook_retry_keys_stable",
  triggered_by: "create",
  retry_trigger: { count: 2, http_status: 503 },
};

/** What the peer grades: each of its tasks with the step it is asked by. */
const gradings = (operation: string): (readonly [task: string, step: object])[] => [
  ["expect_webhook_retry_keys_stable", { retry_trigger: retry.retry_trigger, expect_min_deliveries: 3 }],
  [
    "expect_webhook",
    { filter: { body: { status: "failed", operation_id: operation } }, expect_max_deliveries_per_logical_event: 3 },
  ],
  ["expect_webhook_signature_valid", {}],
];

/** A sender of its own, on a database of its own. */
async function openSender() {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-interop-"));
  const store = openSqliteStore({ path: path.join(folder, "store.db") });
  const pair = generateKeyPairSync("ed25519");
  const sender = await createSender({
    store,
    release,
    word: WORD,
    signer: { key: pair.privateKey, keyid: "peer-1" },
    net: { allowHttp: true, allowLoopback: true },
  });
  const jwk = {
    ...pair.publicKey.export({ format: "jwk" }),
    kid: "peer-1",
    use: "sig",
    alg: "EdDSA",
    key_ops: ["verify"],
    adcp_use: "webhook-signing",
  };
  const close = async (): Promise<void> => {
    await sender.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { sender, jwk, close };
}

test("the peer's receiver-side graders accept what we send, retries included", async () => {
  if (!installed) {
    console.log("skipped: the peer SDK is not installed (npm ci in test/interop/peer)");
    return;
  }
  const { createWebhookReceiver } = peerFile("testing/storyboard/webhook-receiver.js");
  const graders = peerFile("testing/storyboard/webhook-assertions.js");
  const { createRunnerVariables } = peerFile("testing/storyboard/context.js");
  const { StaticJwksResolver } = peerFile("signing/index.js");
  const receiver = await createWebhookReceiver();
  const { sender, jwk, close } = await openSender();
  try {
    const runnerVars = createRunnerVariables({ webhookBase: receiver.base_url });
    graders.armWebhookAssertions({ phases: [{ steps: [retry] }] }, runnerVars, receiver);
    const operation = runnerVars.stepOperationIds.get("create") as string;
    sender.start();
    await sender.tasks.register(
      { taskId: "t-1", tool: "create_media_buy", status: "submitted", principal: "p", context: { trace: 1 } },
      { push: { url: `${receiver.base_url}/step/create/${operation}`, operation_id: operation } },
    );
    await sender.tasks.update("t-1", { status: "failed", result: { errors: [{ code: "X", message: "y" }] } });
    const state = {
      ...{ contributions: new Set(), priorStepResults: new Map(), priorProbes: new Map(), agentUrl: "" },
      ...{ webhookReceiver: receiver, runnerVars },
    };
    const options = { webhook_signing: { jwks: new StaticJwksResolver([jwk]) } };
    for (const [task, step] of gradings(operation)) {
      const result = await grade(graders, task, step, state, options);
      assert.ok(result.passed && !result.skipped, `${task}: ${JSON.stringify(result.validations)}`);
    }
    const statuses = receiver.all().map((one: { response_status: number }) => one.response_status);
    assert.equal(statuses.slice(0, 2), [503, 503]);
    assert.is(Math.floor(statuses[2] / 100), 2);
  } finally {
    await close();
    await receiver.close();
  }
});

test.run();
