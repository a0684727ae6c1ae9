/** Keys that their owner replaces under the same kid: seen at their first use, and at the cost of a new kid. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { brandKeys, publisherPin, remoteJwks } from "../../runtime/signing/discovery/index.js";
import { type KeySource, memoryReplayStore, verifyWebhook } from "../../runtime/signing/index.js";
import { AGENT, BRAND, down, JWKS, PIN, web } from "./discovery-site.js";
import { makeKey, NOW, signed, type TestKey, withHeaders } from "./fixtures.js";

const replaced = suite("replaced keys");
const [before, after] = [makeKey(), makeKey()];
const setOf = (...keys: TestKey[]) => ({ keys: keys.map(({ jwk }) => jwk) });
const pinsOf = ({ jwk: { kid, kty, crv, x } }: TestKey) => ({
  authorized_agents: [{ url: AGENT, signing_keys: [{ kid, kty, crv, x }] }],
});

/** A site with the first key, and what a webhook signed with a key is answered there. */
function market(sourceOf: (site: ReturnType<typeof web>) => KeySource) {
  const site = web({ [BRAND]: { agents: [{ url: AGENT }] }, [JWKS]: setOf(before), [PIN]: pinsOf(before) });
  site.clock.at = NOW;
  const options = { keys: sourceOf(site), replay: memoryReplayStore(), now: site.now };
  const send = async (key: TestKey, change: object = {}) => {
    const result = await verifyWebhook(
      withHeaders(signed(key, undefined, { now: site.now, keyid: key.jwk.kid }), { ...change }),
      options,
    );
    return result.ok ? "ok" : result.code;
  };
  return { site, send };
}

const asked = ({ fetch, now }: ReturnType<typeof web>) => ({ fetch, now });
const ofSet = (site: ReturnType<typeof web>) => remoteJwks({ url: JWKS, sender: AGENT, ...asked(site) });
const ofBrand = (site: ReturnType<typeof web>) => brandKeys({ agentUrl: AGENT, ...asked(site) });
const pinned = (site: ReturnType<typeof web>) =>
  publisherPin({ keys: ofBrand(site), agentUrl: AGENT, publisher: "publisher.example.net", ...asked(site) });

for (const [name, sourceOf] of Object.entries({ ofSet, ofBrand, pinned })) {
  replaced(`a key replaced under its kid is believed at its first use, and the old one no more: ${name}`, async () => {
    const { site, send } = market(sourceOf);
    assert.is(await send(before), "ok");
    site.clock.at += 1;
    Object.assign(site.pages, { [JWKS]: setOf(after), [PIN]: pinsOf(after) });
    assert.is(await send(after), "ok");
    assert.not.equal(await send(before), "ok");
  });
}

for (const [what, old] of Object.entries({ "is as it was": setOf(before), "is gone": 404 })) {
  replaced(`keys that moved elsewhere are believed at their first use, where the place of before ${what}`, async () => {
    const { site, send } = market(ofBrand);
    assert.is(await send(before), "ok");
    const elsewhere = "https://keys.seller.example.com/set.json";
    site.clock.at += 1;
    const moved = makeKey("ed25519", { kid: "moved" });
    Object.assign(site.pages, {
      [BRAND]: { agents: [{ url: AGENT, jwks_uri: elsewhere }] },
      [JWKS]: old,
      [elsewhere]: setOf(moved),
    });
    assert.is(await send(moved), "ok");
    assert.is(await send(before), "webhook_signature_key_unknown", "its owner names it no more");
  });
}

replaced("kids that nobody has cause one fetch of the brand file in thirty seconds", async () => {
  const { site } = market(ofBrand);
  const keys = ofBrand(site);
  for (let asked = 0; asked < 20; asked++) await keys.resolve(`made-up-${asked}`);
  assert.equal([site.count(BRAND), site.count(JWKS)], [2, 2], "at first, and once more");
  site.clock.at += 30;
  for (let asked = 0; asked < 20; asked++) await keys.resolve(`more-${asked}`);
  assert.equal([site.count(BRAND), site.count(JWKS)], [3, 3]);
});

replaced("a key replaced by one of another algorithm is believed at its first use", async () => {
  const { site, send } = market(ofSet);
  const other = makeKey("P-256");
  assert.is(await send(before), "ok");
  site.pages[JWKS] = setOf(other);
  assert.is(await send(other), "ok");
});

replaced("a kid that two keys shared is believed once its owner has mended the set", async () => {
  const { site, send } = market(ofSet);
  site.pages[JWKS] = setOf(before, after);
  assert.is(await send(after), "webhook_signature_key_unknown");
  site.pages[JWKS] = setOf(after);
  assert.is(await send(after), "ok");
});

replaced(
  "forgeries under a known kid cause one fetch in thirty seconds, and what is kept goes on serving",
  async () => {
    const { site, send } = market(ofSet);
    assert.is(await send(before), "ok");
    const forgery = { Signature: `sig1=:${"A".repeat(86)}:` };
    for (let sent = 0; sent < 20; sent++) assert.is(await send(before, forgery), "webhook_signature_invalid");
    assert.is(site.count(JWKS), 2);
    site.clock.at += 30;
    site.pages[JWKS] = down;
    for (let sent = 0; sent < 20; sent++) assert.is(await send(before, forgery), "webhook_signature_invalid");
    assert.is(site.count(JWKS), 3);
    assert.is(await send(before), "ok", "an origin that cannot be asked takes nothing back");
  },
);

replaced("a key other than the pinned one is refused for as long as either side says so", async () => {
  const { site, send } = market(pinned);
  assert.is(await send(before), "ok");
  site.pages[JWKS] = setOf(after);
  for (let sent = 0; sent < 5; sent++) assert.is.not(await send(after), "ok");
  assert.equal([site.count(JWKS), site.count(PIN)], [2, 2]);
  site.clock.at += 30;
  site.pages[PIN] = pinsOf(after);
  assert.is(await send(after), "ok");
});

replaced.run();
