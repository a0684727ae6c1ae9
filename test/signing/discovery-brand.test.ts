/** Keys by way of an operator's brand file: what is fetched, what is believed, and what an outage means. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { type BrandKeysOptions, brandKeys } from "../../runtime/signing/discovery/index.js";
import { AGENT, BRAND, codeOf, down, JWKS, key, now, show, web } from "./discovery-site.js";

const brand = suite("brand file");
const brandSource = (site: ReturnType<typeof web>, extra: Partial<BrandKeysOptions> = {}) =>
  brandKeys({ agentUrl: AGENT, fetch: site.fetch, now: site.now, ...extra });
const entry = (url: string, extra: object = {}) => ({ type: "sales", id: "a", url, ...extra });

brand("from the operator's file over the agent's entry to its keys", async () => {
  const other = "https://keys.example.com/set.json";
  const site = web({
    [BRAND]: { agents: [entry("https://elsewhere.example.com"), entry(AGENT, { jwks_uri: other })] },
    [other]: { keys: [key("a")] },
  });
  const source = brandSource(site);
  assert.equal(show(await source.resolve("a")), [AGENT, "x-of-a"]);
  assert.equal(site.requests, [BRAND, other]);
  assert.equal(show(now(source, "a")), [AGENT, "x-of-a"]);
  assert.is(site.asked[0]?.maxBytes, 256 * 1024);
});

brand("without a jwks_uri the set is at the agent's origin", async () => {
  const site = web({ [BRAND]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } });
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  assert.equal(site.requests, [BRAND, JWKS]);
});

brand("agents of the house and of its brands count", async () => {
  for (const document of [
    { house: { domain: "example.com", agents: [entry(AGENT)] }, brands: [] },
    { house: { domain: "example.com" }, brands: [{ id: "x" }, { id: "y", agents: [entry(AGENT)] }] },
    { house: { agents: [entry(AGENT)] }, brands: [{ agents: [entry(AGENT)] }] },
  ]) {
    const site = web({ [BRAND]: document, [JWKS]: { keys: [key("a")] } });
    assert.is(codeOf(await brandSource(site).resolve("a")), "ok", JSON.stringify(document));
  }
});

brand("URLs are compared byte for byte; none or several is untrusted", async () => {
  const lists: [string, object[]][] = [
    ["does not list", []],
    ["does not list", [entry(`${AGENT}/`)]],
    ["does not list", [entry(AGENT.toUpperCase())]],
    ["does not list", [entry(AGENT.replace(".com/", ".com:443/"))]],
    ["more than once", [entry(AGENT), entry(AGENT)]],
  ];
  for (const [detail, agents] of lists) {
    const site = web({ [BRAND]: { agents }, [JWKS]: { keys: [key("a")] } });
    const resolution = await brandSource(site).resolve("a");
    assert.is(codeOf(resolution), "untrusted");
    assert.match(String(show(resolution)[1]), detail);
    assert.is(site.count(JWKS), 0);
  }
  const apart = {
    house: { agents: [entry(AGENT)] },
    brands: [{ agents: [entry(AGENT, { jwks_uri: "https://x.example" })] }],
  };
  assert.is(codeOf(await brandSource(web({ [BRAND]: apart })).resolve("a")), "untrusted");
});

brand("one pointer is followed, of either kind, and no second", async () => {
  const hosted = "https://hosted.example.org/brand.json";
  const house = "https://house.example.org/.well-known/brand.json";
  const agents = { agents: [entry(AGENT)] };
  const site = web({ [BRAND]: { authoritative_location: hosted }, [hosted]: agents, [JWKS]: { keys: [key("a")] } });
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  assert.equal(site.requests, [BRAND, hosted, JWKS]);
  site.pages[BRAND] = { house: "house.example.org" };
  site.pages[house] = agents;
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  site.pages[house] = { authoritative_location: hosted };
  assert.is(codeOf(await brandSource(site).resolve("a")), "untrusted");
});

brand("an outage anywhere in the chain is unavailable", async () => {
  const pages = { [BRAND]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } };
  for (const broken of [BRAND, JWKS]) {
    for (const page of [down, 503, 404, "not json"]) {
      const site = web({ ...pages, [broken]: page });
      assert.is(codeOf(await brandSource(site).resolve("a")), "unavailable");
    }
  }
});

brand("an agent that is added is found, without waiting for the file to run out", async () => {
  const site = web({ [BRAND]: { agents: [] }, [JWKS]: { keys: [key("a")] } });
  const source = brandSource(site);
  assert.is(codeOf(await source.resolve("a")), "untrusted");
  site.pages[BRAND] = { agents: [entry(AGENT)] };
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.is(site.count(BRAND), 2);
});

brand("a key set that moves is used from its new place, and reported", async () => {
  const moved = "https://keys.example.com/new.json";
  const site = web({
    [BRAND]: { agents: [entry(AGENT)] },
    [JWKS]: { keys: [key("a")] },
    [moved]: { keys: [key("b")] },
  });
  const changes: object[] = [];
  const source = brandSource(site, { onJwksUriChange: (change) => changes.push(change) });
  await source.resolve("a");
  site.pages[BRAND] = { agents: [entry(AGENT, { jwks_uri: moved })] };
  site.clock.at += 601;
  assert.is(codeOf(await source.resolve("b")), "ok");
  assert.is(codeOf(await source.resolve("a")), "key_unknown");
  assert.equal(changes, [{ agentUrl: AGENT, before: JWKS, after: moved }]);
});

brand("wrong options throw", () => {
  for (const options of [{ agentUrl: "agent" }, { operator: "https://example.com" }, { brandUrl: "brand.json" }]) {
    assert.throws(
      () => brandKeys({ agentUrl: AGENT, ...options }),
      (error: unknown) => error instanceof AdbindError && error.code === "discovery_option_invalid",
    );
  }
});

brand.run();
