/** What callers have standing, by the schemas of each published release that knows it: requests, answers, challenges, what is declared. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createPrincipals } from "../../runtime/seller/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { publishedReleases } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { judgeOf } from "../support/schema-judge.js";
import { config, release, world } from "./principals.case.js";
import type { SellerCase } from "./store-suite.js";

const of = {
  name: "published",
  open: async () => openSqliteStore({ path: path.join(tempFolder(), "principals.db") }),
} as unknown as SellerCase;

const schemaOf = (tool: string, what: "request" | "response"): string =>
  `protocol/${tool.replaceAll("_", "-")}-${what}.json`;
const key = { idempotency_key: "5e1e4b8e-6a56-4c1e-9a43-7a9f8dfc3a52" };
const paused = { ...config, subscriber_id: "paused", active: false };

for (const folder of publishedReleases().filter((one) =>
  existsSync(path.join(one, schemaOf("sync_agent_notification_configs", "request"))),
)) {
  const has = (tool: string): boolean => existsSync(path.join(folder, schemaOf(tool, "request")));
  const judged = judgeOf(folder);
  test(`${path.basename(folder)}: calls, answers and challenges are valid`, async () => {
    const judge = await judged;
    const valid = (schema: string, value: object): void =>
      assert.ok(judge.accepts(schema, value), `${schema}: ${JSON.stringify([value, judge.errors()])}`);
    const { call, network, close } = await world(of);
    const asks = async (tool: string, args: object, principal?: string): Promise<void> => {
      if (!has(tool)) return;
      valid(schemaOf(tool, "request"), args);
      valid(schemaOf(tool, "response"), await call(tool, args, principal));
    };
    await asks("get_principal", {});
    const auth = { schemes: ["Bearer"], credentials: "0123456789abcdefGHIJKLMNOPQRSTUVWXYZ" };
    const configs = [{ ...config, authentication: auth }, paused];
    await asks("sync_agent_notification_configs", { ...key, notification_configs: configs });
    valid("core/agent-webhook-challenge.json", network.sent[0]!.body);
    for (const more of [{ dry_run: true }, { expected_configuration_version: "another" }, {}]) {
      const whole = {
        configuration: { notification_configs: [config] },
        idempotency_key: JSON.stringify(more).replace(/\W/g, ".").padEnd(16, "."),
      };
      await asks("sync_principal", { ...whole, ...more });
    }
    await asks("get_principal", {});
    network.react = () => 500;
    const moved = { ...config, url: `${config.url}/moved` };
    await asks("sync_agent_notification_configs", { ...key, notification_configs: [moved] }, "buyer-2");
    await close();
  });

  test(`${path.basename(folder)}: what is declared is valid`, async () => {
    const judge = await judged;
    const tools = Object.fromEntries(
      Object.keys(release.tools)
        .filter(has)
        .map((name) => [name, release.tools[name]]),
    );
    const declared = createPrincipals({ sender: {} as never }).capabilities({
      ...release,
      word: "adcp",
      tools,
    } as never);
    const { adcp, ...more } = declared as { adcp: { capability_changes: object } };
    const changes = { capabilities_version: "1", ...adcp.capability_changes };
    const whole = {
      ...{ status: "completed", supported_protocols: ["media_buy"], ...more },
      account: { supported_billing: ["operator"] },
      webhook_signing: { supported: true, profile: "adcp/webhook-signing/v1", algorithms: ["ed25519"] },
      adcp: {
        major_versions: [3],
        idempotency: { supported: true, replay_ttl_seconds: 86_400 },
        ...adcp,
        capability_changes: changes,
      },
    };
    const schema = "protocol/get-adcp-capabilities-response.json";
    assert.ok(judge.accepts(schema, whole), JSON.stringify(judge.errors()));
    const without = { ...whole, adcp: { ...whole.adcp, capability_changes: adcp.capability_changes } };
    assert.not(judge.accepts(schema, without), "a revision is part of it");
  });
}

test.run();
