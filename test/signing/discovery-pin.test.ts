/** Keys that a publisher pins in its file: what is fetched, what is believed, and what an outage means. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { publisherPin } from "../../runtime/signing/discovery/index.js";
import type { KeySource } from "../../runtime/signing/types.js";
import { AGENT, codeOf, down, key, now, PIN, show, web } from "./discovery-site.js";

const pin = suite("publisher pin");
const published: KeySource = {
  resolve: (keyid) =>
    ["a", "b"].includes(keyid)
      ? { ok: true, key: publishedKeys[keyid as "a" | "b"], sender: AGENT }
      : { ok: false, code: "key_unknown" },
};
const publishedKeys = { a: { jwk: key("a") }, b: { jwk: key("b") } };
const pins = (...signing_keys: unknown[]) => ({
  authorized_agents: [{ url: AGENT, authorized_for: "all", signing_keys }],
});
const pinned = (site: ReturnType<typeof web>, extra: object = {}) =>
  publisherPin({
    keys: published,
    agentUrl: AGENT,
    publisher: "publisher.example.net",
    fetch: site.fetch,
    now: site.now,
    ...extra,
  });

pin("a kid on the list passes, another is unknown whatever the agent publishes", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  const source = pinned(site);
  const found = await source.resolve("a");
  assert.equal(show(found), [AGENT, "x-of-a"]);
  assert.equal(show(await source.resolve("b"))[0], "key_unknown");
  assert.is(site.count(PIN), 2, "one refresh");
  assert.equal(show(now(source, "b"))[0], "key_unknown");
  assert.is(site.count(PIN), 2);
  const [one, two] = [now(source, "a"), now(source, "a")];
  assert.ok(one.ok && two.ok && one.key === two.key, "an imported key is not imported again");
  assert.equal(site.asked[0]?.redirects, { hops: 3, scope: "registrable-domain" });
});

pin("a key added to the file is found by its first use", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  const source = pinned(site);
  await source.resolve("a");
  site.pages[PIN] = pins({ kid: "a", kty: "OKP" }, { kid: "b", kty: "OKP" });
  assert.is(codeOf(await source.resolve("b")), "ok");
});

pin("no pin for the agent: its keys as they are", async () => {
  for (const agents of [
    [],
    [{ url: AGENT }],
    [{ url: "https://other.example", signing_keys: [] }],
    [7, { signing_keys: [] }],
  ]) {
    const site = web({ [PIN]: { authorized_agents: agents } });
    assert.is(codeOf(await pinned(site).resolve("b")), "ok", JSON.stringify(agents));
  }
});

pin("a pin is not escaped by spelling the agent's URL differently, nor by an empty or broken list", async () => {
  const spelled = AGENT.replace("https://agent", "HTTPS://AGENT").replace(".com/", ".com:443/");
  for (const agent of [
    { url: spelled, signing_keys: [{ kid: "a", kty: "OKP" }] },
    { url: AGENT, signing_keys: [] },
    { url: AGENT, signing_keys: "a" },
  ]) {
    const site = web({ [PIN]: { authorized_agents: [agent] } });
    assert.is(codeOf(await pinned(site).resolve("b")), "key_unknown", JSON.stringify(agent));
  }
});

const material = { kty: "OKP", crv: "Ed25519", x: "x-of-a" };

pin("a pin that carries a key is of that key: another one under its kid is refused, never replaced", async () => {
  const same = await pinned(web({ [PIN]: pins({ kid: "a", ...material, proto_use: "governance-signing" }) })).resolve(
    "a",
  );
  assert.ok(same.ok);
  assert.equal(same.key.jwk, key("a"), "purpose and all else are the key set's");
  for (const other of [{ x: "pinned" }, { kty: "EC", crv: "P-256", y: "py" }, { crv: "Ed448" }]) {
    const site = web({ [PIN]: pins({ kid: "a", ...material, ...other }) });
    assert.is(codeOf(await pinned(site).resolve("a")), "key_unknown");
  }
});

pin("a pin never adds a key, unless an option says so", async () => {
  const site = web({ [PIN]: pins({ kid: "p", kty: "OKP", crv: "Ed25519", x: "pinned" }, { kid: "bare", kty: "OKP" }) });
  assert.is(codeOf(await pinned(site).resolve("p")), "key_unknown");
  const source = pinned(site, { word: "acme", unpublished: "accept" });
  const found = await source.resolve("p");
  assert.ok(found.ok && found.sender === AGENT);
  const { acme_use, use, key_ops, alg, x } = found.key.jwk;
  assert.equal([acme_use, use, key_ops, alg, x], ["request-signing", "sig", ["verify"], "EdDSA", "pinned"]);
  assert.is(codeOf(now(source, "bare")), "key_unknown");
});

pin(
  "by thumbprint: the published key is one that a pin carries, whatever its kid; a kid alone matches nothing",
  async () => {
    const revoked = "2026-04-18T14:00:00Z";
    const judged = async (...entries: object[]) => {
      const site = web({ [PIN]: pins(...entries) });
      return pinned(site, { rule: "thumbprint", unpublished: "accept" }).resolve("a");
    };
    assert.is(codeOf(await judged({ kid: "a", ...material })), "ok");
    assert.is(codeOf(await judged({ kid: "other", ...material })), "ok");
    const late = await judged({ kid: "other", ...material, revoked_at: revoked });
    assert.is(late.ok && late.key.revokedAt, Date.parse(revoked) / 1000);
    assert.is(codeOf(await judged({ kid: "a", kty: "OKP" })), "key_unknown");
    assert.is(codeOf(await judged({ kid: "a", ...material, x: "pinned" })), "key_unknown");
    const lacking = pinned(web({ [PIN]: pins({ kid: "p", ...material }) }), {
      rule: "thumbprint",
      unpublished: "accept",
    });
    assert.is(codeOf(await lacking.resolve("p")), "key_unknown", "never adds a key");
  },
);

pin("by thumbprint a key is pinned beside another of its kid, and without any", async () => {
  const at = "2026-04-18T14:00:00Z";
  const judged = async (...entries: object[]) =>
    pinned(web({ [PIN]: pins(...entries) }), { rule: "thumbprint" }).resolve("a");
  assert.is(codeOf(await judged({ kid: "a", ...material, x: "older" }, { kid: "a", ...material })), "ok");
  assert.is(codeOf(await judged(material)), "ok");
  const twice = await judged(material, { kid: "b", ...material, revoked_at: at });
  assert.is(twice.ok && twice.key.revokedAt, Date.parse(at) / 1000, "the sooner end holds");
});

pin("a pin vouches for a key, not for an agent its brand file does not list", async () => {
  const site = web({ [PIN]: pins({ kid: "p", kty: "OKP", crv: "Ed25519", x: "pinned" }) });
  for (const code of ["untrusted", "unavailable"] as const) {
    const source = pinned(site, { keys: { resolve: () => ({ ok: false, code }) } });
    assert.is(codeOf(await source.resolve("p")), code);
  }
});

pin("a date of another form than ISO 8601 is past, and one without a zone is the same in every zone", async () => {
  const zone = process.env.TZ;
  try {
    for (const TZ of ["America/New_York", "Asia/Kathmandu"]) {
      process.env.TZ = TZ;
      const site = web({
        [PIN]: pins(
          { kid: "a", kty: "OKP", revoked_at: "revoked 2099" },
          { kid: "b", kty: "OKP", revoked_at: "2099-01-01T00:00:00" },
        ),
      });
      const [a, b] = [await pinned(site).resolve("a"), await pinned(site).resolve("b")];
      assert.ok(a.ok && b.ok);
      assert.equal([a.key.revokedAt, b.key.revokedAt], [0, Date.UTC(2099, 0, 1) / 1_000], TZ);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

pin("revoked_at travels with the key; a date that cannot be read is past", async () => {
  const at = "2026-04-18T14:00:00Z";
  const site = web({
    [PIN]: pins({ kid: "a", kty: "OKP", revoked_at: at }, { kid: "b", kty: "OKP", revoked_at: "soon" }),
  });
  const source = pinned(site);
  const [a, b] = [await source.resolve("a"), await source.resolve("b")];
  assert.equal([a.ok && a.key.revokedAt, b.ok && b.key.revokedAt], [Date.parse(at) / 1000, 0]);
});

pin("several entries of one agent add up; one kid with two keys is nobody's", async () => {
  const agent = (...signing_keys: object[]) => ({ url: AGENT, signing_keys });
  const site = web({
    [PIN]: {
      authorized_agents: [
        agent({ kid: "a", kty: "OKP", x: "1" }),
        agent({ kid: "b", kty: "OKP" }, { kid: "a", kty: "OKP", x: "2" }),
      ],
    },
  });
  const source = pinned(site);
  assert.equal([codeOf(await source.resolve("a")), codeOf(await source.resolve("b"))], ["key_unknown", "ok"]);
});

pin("a file that cannot be had is unavailable; a missing one only by choice no pin", async () => {
  for (const page of [down, 503, "{", {}, { authorized_agents: {} }]) {
    for (const ifAbsent of ["refuse", "unpinned"]) {
      assert.is(codeOf(await pinned(web({ [PIN]: page }), { ifAbsent }).resolve("a")), "unavailable");
    }
  }
  assert.is(codeOf(await pinned(web({})).resolve("a")), "unavailable");
  assert.is(codeOf(await pinned(web({}), { ifAbsent: "unpinned" }).resolve("a")), "ok");
});

pin("one pointer is followed, without redirects", async () => {
  const hosted = "https://network.example.org/adagents.json";
  const site = web({ [PIN]: { authoritative_location: hosted }, [hosted]: pins({ kid: "a", kty: "OKP" }) });
  assert.is(codeOf(await pinned(site).resolve("b")), "key_unknown");
  assert.equal(site.requests.slice(0, 2), [PIN, hosted]);
  assert.is(site.asked[1]?.redirects, undefined);
  site.pages[hosted] = { authoritative_location: PIN };
  assert.is(codeOf(await pinned(site).resolve("a")), "untrusted");
});

pin("a removed pin is gone after an hour at the latest", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  site.headers[PIN] = { "cache-control": "max-age=86400" };
  const source = pinned(site);
  await source.resolve("a");
  site.pages[PIN] = pins();
  site.clock.at += 3599;
  assert.is(codeOf(await source.resolve("a")), "ok");
  site.clock.at += 1;
  assert.is(codeOf(await source.resolve("a")), "key_unknown");
});

pin("keys of a source that answers something undeclared are unavailable, whatever is pinned", async () => {
  const site = web({ [PIN]: pins(key("a")) });
  const answers = [
    undefined,
    "ok",
    {},
    { ok: "yes", key: { jwk: key("a") }, sender: AGENT },
    { ok: true, sender: AGENT },
  ];
  for (const answer of [...answers, { ok: false, code: "weird" }]) {
    for (const rule of ["kid", "thumbprint"]) {
      const source = pinned(site, { keys: { resolve: () => answer }, rule, unpublished: "accept" });
      assert.is(codeOf(await source.resolve("a")), "unavailable", JSON.stringify([answer, rule]));
    }
  }
});

pin.run();
