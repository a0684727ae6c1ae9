/** In production there are no sandbox accounts: whatever a tool is asked for one, nothing happens outside, and nothing is made up. */
import { generateKeyPairSync } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behaviours } from "../../runtime/behaviours/areas.js";
import { type Ports, portsFrom } from "../../runtime/behaviours/ports/index.js";
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import { tokenAuth } from "../../runtime/seller/index.js";
import { account, behavingSeller, publishedRelease, versions } from "./behaving-seller.js";
import { requestsOf } from "./every-tool.js";
import { lived } from "./strangers-life.js";

/** What ports are asked by who only looks; all else does something, or says what was done for an account. */
const looking = new RegExp(
  [
    ...["^catalogue\\.", "^properties\\.", "^collections\\.", "^policy\\.", "^creatives\\.(formats|palette)$"],
    ...["^signals\\.signals$", "^brands\\.(brands|offerings|revoked)$", "^conversations\\.(offering|products)$"],
    ...["^transformers\\.(transformers|formats|options)$", "^reporting\\.feeds$"],
  ].join("|"),
);

/** What ports may have beside, and none of the defaults has. */
const beside: { readonly [P in keyof Ports]?: readonly string[] } = {
  accounts: ["credit"],
  creatives: ["review", "serve"],
  signals: ["activate", "deactivate"],
  reporting: ["consumerStatus"],
  provenance: ["verify"],
  adServer: ["delivery", "content"],
};

/** The default ports, and what they are asked that does something. */
function notingPorts() {
  const asked: string[] = [];
  const ports = Object.fromEntries(
    Object.entries(portsFrom({}, "production")).map(([name, port]) => {
      const more = beside[name as keyof Ports] ?? [];
      const none = Object.fromEntries(more.map((member) => [member, async () => undefined]));
      const noted = Object.entries({ ...none, ...port }).map(([member, value]) => {
        if (typeof value !== "function") return [member, value];
        const note = (...given: unknown[]) => {
          if (!looking.test(`${name}.${member}`)) asked.push(`${name}.${member}`);
          return (value as (...all: unknown[]) => unknown).apply(port, given);
        };
        return [member, note];
      });
      return [name, Object.fromEntries(noted)];
    }),
  ) as unknown as Ports;
  return { ports, asked };
}

/** Tools that show everybody what is on offer, or what the seller thinks of something: an account changes nothing in it. */
const shows: ReadonlySet<string> = new Set([
  ...["get_products", "list_products", "list_creative_formats", "get_rights", "get_creative_features"],
  ...["list_accounts", "list_tasks"],
]);

const sandbox = { ...account, sandbox: true };

/** The request with the sandbox wherever it names an account. */
function rehearsed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rehearsed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (name === "account") return [name, sandbox];
      if (name !== "accounts" || !Array.isArray(one)) return [name, rehearsed(one)];
      return [
        name,
        one.map((each) => ("account" in each ? { ...each, account: sandbox } : { ...each, sandbox: true })),
      ];
    }),
  );
}

/** Nothing was done of what was asked: all of it failed, or each of its lines. */
function isRefused(failed: boolean, payload: JsonObject): boolean {
  if (failed || payload.accepted === 0) return true;
  const { accounts, results } = payload;
  const lines = [accounts, results].flatMap((all) => (Array.isArray(all) ? (all as JsonObject[]) : []));
  return lines.length > 0 && lines.every(({ action, status, result }) => [action, status, result].includes("failed"));
}

for (const version of versions)
  test(`${version}: what is asked for a sandbox account in production reaches no port, and is refused`, async () => {
    const release = await publishedRelease(version);
    const { ports, asked } = notingPorts();
    const seller = await behavingSeller(version, [], {
      ...{ with: behaviours.map(({ area }) => area), ports, mode: "production" },
      auth: tokenAuth({ tokens: { "a token": "alice" } }),
      key: { ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid: "k1" },
    } as never);
    const made = await requestsOf(release);
    const { requests, refused } = await lived(seller, "alice", release, made);
    assert.equal(refused, []);
    for (const one of ["adServer.book", "audiences.change", "events.take", "creatives.review"])
      assert.ok(asked.includes(one), `${one} is asked for an account that is none`);
    const told: string[] = [];
    const without: string[] = [];
    for (const tool of Object.keys(release.tools)) {
      const base = requests.get(tool) ?? made.smallest(tool);
      const request = base && (rehearsed(made.named(tool, base)) as JsonObject);
      if (request === undefined || !JSON.stringify(request).includes('"sandbox":true')) {
        without.push(tool);
        continue;
      }
      asked.length = 0;
      const identity = { principal: "alice" };
      const args = made.keyed(tool, request) as never;
      const { failed, payload } = await seller.seller.call({ tool, args, transport: "mcp", identity });
      if (asked.length > 0) told.push(`${tool} asks ${asked}`);
      if (!shows.has(tool) && !isRefused(failed, payload as JsonObject))
        told.push(`${tool} ${JSON.stringify(payload)}`);
    }
    console.log(`${version}: no account in what is asked: ${without.join(", ")}`);
    assert.equal(told, []);
    for (const tool of ["create_media_buy", "sync_creatives", "sync_audiences", "build_creative"])
      assert.not.ok(without.includes(tool), tool);
    await seller.close();
  });

test.run();
