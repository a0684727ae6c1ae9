/** What a sender's release decides of its signatures: where its keys are looked for, and what they may be for. */
import * as assert from "uvu/assert";
import { release as older } from "../../generated/3.0.0/index.js";
import { release } from "../../generated/3.1.0/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { bindRelease, type KeysFor, type WantedKeys } from "../../runtime/receiver/index.js";
import { agentKeys } from "../../runtime/signing/discovery/index.js";
import { createTestKey } from "../../runtime/testing/index.js";
import { web } from "../signing/discovery-site.js";
import {
  envelope,
  errorOf,
  keysOf,
  SELLER,
  type SetupOptions,
  START_MS,
  sellerKey,
  send,
} from "../support/receiver.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("sender's keys");

const handlers = { fallback: () => undefined };
const bound = [bindRelease(release, handlers), bindRelease(older, handlers)];
const both: SetupOptions = { releases: bound };

/** A key for everything a party signs, which came with 3.1. */
const requestKey = () => createTestKey({ keyid: "key-1", use: "request-signing" });

test("a key may be for what the release of the registration says, else that of the sender", async ({ open }) => {
  const key = requestKey();
  const s = await open({ ...both, senderConfig: { keys: keysOf(SELLER, key) } });
  const expect = (route: string, version?: string) =>
    s.receiver.expect({ route, sender: SELLER, kind: "task", ...(version && { release: version }) });
  await expect("/hooks/new", release.version);
  await expect("/hooks/old", older.version);
  const sent = (route: string) => send(s, envelope({ task_id: route }), { route, key });
  assert.is((await sent("/hooks/new")).status, 200);
  assert.is(errorOf(await sent("/hooks/old")), "webhook_signature_key_purpose_invalid");
  const t = await open({ ...both, senderConfig: { keys: keysOf(SELLER, key), release: older.version } });
  assert.is(errorOf(await send(t, envelope(), { key })), "webhook_signature_key_purpose_invalid");
  const fit = sellerKey();
  const u = await open({ ...both, senderConfig: { keys: keysOf(SELLER, fit), release: older.version } });
  assert.is((await send(u, envelope(), { key: fit })).status, 200);
});

test("a finder of keys is told whose and by which release, once for each", async ({ open }) => {
  const key = sellerKey();
  const wanted: WantedKeys[] = [];
  const keys: KeysFor = (one) => {
    wanted.push(one);
    return keysOf(one.agentUrl, key);
  };
  const s = await open({ ...both, senderConfig: { keys } });
  assert.equal(
    wanted.map((one) => [one.agentUrl, one.release.version]),
    [[SELLER, release.version]],
    "at construction",
  );
  assert.is(wanted[0]!.now(), START_MS / 1000);
  await s.receiver.expect({ route: "/hooks/old", sender: SELLER, kind: "task", release: older.version });
  for (const task_id of ["1", "2"]) {
    assert.is((await send(s, envelope({ task_id }), { key })).status, 200);
    assert.is((await send(s, envelope({ task_id: `old-${task_id}` }), { key, route: "/hooks/old" })).status, 200);
  }
  assert.equal(
    wanted.map((one) => one.release.version),
    [release.version, older.version],
  );
});

test("agentKeys finds them by the sender's URL alone", async ({ open }) => {
  const key = sellerKey();
  const { host, origin } = new URL(SELLER);
  const site = web({
    [`https://${host}/.well-known/brand.json`]: { agents: [{ type: "sales", id: "a", url: SELLER }] },
    [`${origin}/.well-known/jwks.json`]: { keys: [key.jwk] },
  });
  const s = await open({ senderConfig: { keys: (wanted) => agentKeys({ ...wanted, fetch: site.fetch }) } });
  assert.is((await send(s, envelope(), { key })).status, 200);
  assert.is(
    errorOf(await send(s, envelope({ task_id: "2" }), { key: sellerKey("key-2") })),
    "webhook_signature_key_unknown",
  );
});

test("what cannot be used is told when the receiver is made", async ({ open }) => {
  const refusal = async (senderConfig: object): Promise<string> => {
    try {
      await open({ senderConfig });
    } catch (error) {
      assert.instance(error, AdbindError);
      return (error as AdbindError).code;
    }
    return "it is taken";
  };
  assert.is(await refusal({ keys: () => agentKeys({ agentUrl: "seller", release }) }), "discovery_option_invalid");
  assert.is(await refusal({ release: "9.9.9" }), "receiver_option_invalid");
});

test.run();
