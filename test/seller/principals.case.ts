/** What a caller has standing: configs that one tool or the other writes, proved before they count, and nobody else's. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Release } from "../../runtime/contract/index.js";
import { createPrincipals, createSeller, type PrincipalOptions } from "../../runtime/seller/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { FakeNetwork, listening, NOW, optionsFor } from "../sender/fixture.js";
import { eventRelease } from "../support/event-release.js";
import { newBench, sellerOptions } from "./fixture.js";
import type { SellerCase } from "./store-suite.js";

const tool = (name: string, mutating: boolean) => ({
  name,
  protocol: "protocol",
  mutating,
  idempotency: mutating ? "required" : "none",
  request: `protocol/${name.replaceAll("_", "-")}-request.json`,
  arms: { completed: null, failed: null, canceled: null, rejected: null },
  statuses: ["completed"],
});
const tools = Object.fromEntries(
  [tool("sync_agent_notification_configs", true), tool("sync_principal", true), tool("get_principal", false)].map(
    (one) => [one.name, one],
  ),
);

export const release = {
  ...eventRelease,
  tools: { ...eventRelease.tools, ...tools },
  schemas: async () => ({
    ...(await eventRelease.schemas()),
    ...Object.fromEntries(Object.values(tools).map(({ request }) => [request, '{"type":"object"}'])),
  }),
} as unknown as Release;

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into answers of every kind
type Payload = Record<string, any>;

export const config = {
  subscriber_id: "cache",
  url: "https://buyer.example/hooks/capabilities",
  event_types: ["capabilities.changed"],
};
const authentication = { schemes: ["HMAC-SHA256"], credentials: "0123456789abcdefGHIJKLMNOPQRSTUVWXYZ" };

export async function world(of: SellerCase, options: Partial<PrincipalOptions> = {}) {
  const store = await of.open();
  const network = new FakeNetwork({ at: NOW });
  network.react = listening;
  const agentUrl = "https://seller.example/agent";
  const sender = await createSender({ ...optionsFor(network.clock, network), store, release, agentUrl } as never);
  const principals = createPrincipals<never>({ sender, ...options });
  const base = sellerOptions(newBench());
  const seller = await createSeller({
    ...base,
    ...{ release, store, sender, capabilities: principals.capabilities },
    tools: { ...base.tools, ...principals.tools },
  } as never);
  let count = 0;
  const call = async (name: string, args: object = {}, principal = "buyer-1") => {
    const key = { idempotency_key: `key-${++count}-0123456789abcdef` };
    const whole = tools[name]!.mutating ? { ...key, ...args } : args;
    const called = await seller.call({ tool: name, args: whole, transport: "mcp", identity: { principal } });
    return called.payload as Payload;
  };
  const close = async (): Promise<void> => {
    await seller.close();
    await sender.stop();
    await store.close();
  };
  return { network, sender, seller, call, close };
}

type Suite = ReturnType<typeof suite>;
const whole = (configs: readonly object[], more: object = {}) => ({
  configuration: { notification_configs: configs },
  ...more,
});
const faultOf = ({ errors }: Payload) => [errors?.[0]?.code, errors?.[0]?.field];

function syncCases(test: Suite, of: SellerCase): void {
  test("either tool writes the one set of its caller; its versions are fences", async () => {
    const { call, network, close } = await world(of);
    assert.equal((await call("get_principal")).result, { kind: "unconfigured" });
    const given = { ...config, authentication };
    const first = await call("sync_agent_notification_configs", { notification_configs: [given] });
    const { schemes } = authentication;
    const shown = { ...config, authentication: { schemes }, active: true };
    assert.equal([first.action, first.dry_run, first.notification_configs], ["updated", false, [shown]]);
    const { result: read } = await call("get_principal");
    assert.equal(
      [read.kind, read.principal_kind, read.configuration],
      ["current", "buyer_agent", { notification_configs: [shown] }],
    );
    const { result: again } = await call("sync_principal", whole([given]));
    assert.equal(
      [again.action, again.configuration_version, again.principal_id],
      ["unchanged", read.configuration_version, read.principal_id],
    );
    const fence = { expected_configuration_version: read.configuration_version };
    const { result: cleared } = await call("sync_principal", whole([], fence));
    assert.equal([cleared.kind, cleared.action], ["applied", "cleared"]);
    const late = await call("sync_principal", whole([config], fence));
    assert.equal(
      [late.status, late.result.kind, ...faultOf(late)],
      [...["failed", "failed", "CONFLICT", "configuration.notification_configs"]],
    );
    assert.is(network.sent.length, 1, "nobody is asked for what cannot be");
    await close();
  });

  test("an answer that is lost is given again, though what it wrote has moved on", async () => {
    const { call, network, close } = await world(of);
    const key = { idempotency_key: "key-of-the-first-0123456789" };
    const first = await call("sync_principal", whole([config], key));
    await call("sync_principal", whole([]));
    const again = await call("sync_principal", whole([config], key));
    assert.equal([again.replayed, again.result], [true, first.result]);
    assert.equal(
      [(await call("sync_principal", whole([config], key), "buyer-2")).replayed, network.sent.length],
      [undefined, 2],
    );
    await close();
  });
}

function refusalCases(test: Suite, of: SellerCase): void {
  test("what cannot be proved, is not offered, or is nobody's is refused whole", async () => {
    const { call, network, close } = await world(of, { eventTypes: ["capabilities.changed"] });
    network.react = () => 302;
    const failed = await call("sync_agent_notification_configs", { notification_configs: [config] });
    assert.equal([failed.action, ...faultOf(failed)], ["failed", "VALIDATION_ERROR", "notification_configs[0].url"]);
    const other = { ...config, event_types: ["account.status_changed"], all_authorized_accounts: true };
    assert.equal(faultOf(await call("sync_principal", whole([other]))), [
      "UNSUPPORTED_FEATURE",
      "configuration.notification_configs[0].event_types[0]",
    ]);
    const sections = { configuration: { notification_configs: [config], reporting_destinations: [] } };
    assert.equal(faultOf(await call("sync_principal", sections)), [
      "UNSUPPORTED_FEATURE",
      "configuration.reporting_destinations",
    ]);
    const fence = { expected_principal_kind: "operator" };
    assert.is(faultOf(await call("sync_principal", whole([config], fence)))[0], "CONFLICT");
    for (const name of Object.keys(tools)) {
      const args = { notification_configs: [config], ...whole([config]) };
      assert.is(faultOf(await call(name, args, "anonymous"))[0], "AUTH_REQUIRED");
    }
    assert.equal((await call("get_principal")).result, { kind: "unconfigured" });
    await close();
  });

  test("a dry run asks nobody and stores nothing; another caller's set is another", async () => {
    const { call, network, sender, close } = await world(of, {
      idOf: (one) => (one === "known" ? "prin_1" : undefined),
    });
    const dry = await call("sync_principal", whole([config], { dry_run: true }));
    assert.equal(dry.result, { kind: "validated", action: "would_update", dry_run: true });
    assert.is(network.sent.length, 0);
    await call("sync_principal", whole([config]));
    const clear = { notification_configs: [], dry_run: true };
    const looked = await call("sync_agent_notification_configs", clear);
    assert.equal([looked.action, looked.dry_run, looked.notification_configs.length], ["cleared", true, 1]);
    await call("sync_agent_notification_configs", { notification_configs: [] }, "buyer-2");
    assert.is((await sender.notifications.list({ principal: "buyer-1" })).length, 1);
    const recognized = await call("get_principal", {}, "known");
    assert.equal(recognized.result, { kind: "recognized", principal_id: "prin_1", principal_kind: "buyer_agent" });
    await close();
  });

  test("configs that another call replaces while they are proved are not stored, and neither is their answer", async () => {
    const { call, network, close } = await world(of);
    const key = { idempotency_key: "key-of-a-slow-one-0123456789" };
    network.react = async (sent) => {
      if (sent.url === config.url) await call("sync_principal", whole([{ ...config, url: `${config.url}/new` }]));
      return listening(sent);
    };
    assert.is(faultOf(await call("sync_principal", whole([config], key)))[0], "CONFLICT");
    const { result } = await call("get_principal");
    assert.is(result.configuration.notification_configs[0].url, `${config.url}/new`);
    network.react = listening;
    const again = await call("sync_principal", whole([config], key));
    assert.equal([again.replayed, again.result.action], [undefined, "updated"]);
    await close();
  });
}

function declaredCases(test: Suite, of: SellerCase): void {
  test("a seller with these tools says so, and under which revision", async () => {
    const { seller, close } = await world(of);
    const { capability_changes: changes, principal } = seller.capabilities.proto as Payload;
    assert.equal(changes.notifications, {
      supported: true,
      registration_task: "sync_principal",
      event_types: ["capabilities.changed"],
    });
    assert.match(changes.capabilities_version, /^.{43}$/);
    assert.ok(principal.caller_event_types.includes("account.change_recorded"));
    const other = await world(of, { cacheSeconds: 60 });
    const { capability_changes: others } = other.seller.capabilities.proto as Payload;
    assert.is.not(others.capabilities_version, changes.capabilities_version);
    await close();
    await other.close();
  });
}

export function principalsCase(of: SellerCase): void {
  const test = suite(`${of.name}: principals`);
  for (const cases of [syncCases, refusalCases, declaredCases]) cases(test, of);
  test.run();
}
