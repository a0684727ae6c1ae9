/** Keys by way of an operator's brand file: what is fetched, what is believed, and what an outage means. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { type BrandKeysOptions, type BrandRules, brandKeys } from "../../runtime/signing/discovery/index.js";
import { AGENT, BRAND, codeOf, down, JWKS, key, now, type Page, show, web } from "./discovery-site.js";

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

brand("a key set that moves is used from its new place, and reported to whoever throws", async () => {
  const moved = "https://keys.example.com/new.json";
  const site = web({
    [BRAND]: { agents: [entry(AGENT)] },
    [JWKS]: { keys: [key("a")] },
    [moved]: { keys: [key("b")] },
  });
  const changes: object[] = [];
  const source = brandSource(site, { onJwksUriChange: (change) => assert.is(changes.push(change), 0, "it throws") });
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

const HOST = "https://agent.seller.example.com/.well-known/brand.json";

brand(
  "where the operator's domain has no file the agent's own host is asked; where it has one, or is away, it is not",
  async () => {
    const pages = { [HOST]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } };
    const site = web({ ...pages });
    assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
    assert.equal(site.requests, [BRAND, HOST, JWKS]);
    for (const [page, code] of [
      [{ agents: [] }, "untrusted"],
      [down, "unavailable"],
      [503, "unavailable"],
    ] as const) {
      const other = web({ ...pages, [BRAND]: page });
      assert.is(codeOf(await brandSource(other).resolve("a")), code);
      assert.is(other.count(HOST), 0);
    }
    assert.is(codeOf(await brandSource(web({ ...pages }), { operator: "example.com" }).resolve("a")), "unavailable");
    const newest = web({ ...pages, [BRAND]: { agents: [] } });
    const rules = {
      urlMatch: "canonical",
      brandBytes: 2_097_152,
      webhooks: "capabilities",
      keyOrigins: "nobody",
    } as const;
    assert.is(codeOf(await brandSource(newest, { rules }).resolve("a")), "ok", "the host goes first from 3.3 on");
    assert.is(newest.asked[0]?.maxBytes, 2_097_152);
  },
);

brand("a release may compare URLs by their canonical form; a slash at the end is still another", async () => {
  const rules = { urlMatch: "canonical", brandBytes: 262_144, webhooks: "host", keyOrigins: "nobody" } as const;
  const judged = async (...urls: string[]) =>
    codeOf(
      await brandSource(web({ [BRAND]: { agents: urls.map((url) => entry(url)) }, [JWKS]: { keys: [key("a")] } }), {
        rules,
      }).resolve("a"),
    );
  const spelled = AGENT.replace("https://agent", "HTTPS://AGENT").replace(".com/", ".com:443/");
  assert.is(await judged(spelled), "ok");
  assert.is(await judged(`${AGENT}/`), "untrusted");
  assert.is(await judged(AGENT, spelled), "untrusted", "twice in one list");
});

brand("what the agent declares is its brand file, and no other is looked for", async () => {
  const declaredAt = "https://brands.example.net/agent.json";
  const site = web({
    [declaredAt]: { agents: [entry(AGENT)] },
    [BRAND]: { agents: [entry(AGENT)] },
    [JWKS]: { keys: [key("a")] },
  });
  let asked = 0;
  let says: string | undefined = declaredAt;
  const declared = async () => {
    asked++;
    return says === undefined ? {} : { brandUrl: says };
  };
  const source = brandSource(site, { declared });
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.is(codeOf(now(source, "a")), "ok");
  assert.equal([asked, site.count(BRAND)], [1, 0]);
  site.pages[declaredAt] = 404;
  assert.is(codeOf(await brandSource(site, { declared }).resolve("a")), "unavailable", "and nothing falls back");
  says = undefined;
  assert.is(codeOf(await brandSource(site, { declared }).resolve("a")), "ok", "only where none is declared");
  says = "http://brands.example.net/agent.json";
  assert.is(codeOf(await brandSource(site, { declared }).resolve("a")), "untrusted");
  const away = brandSource(site, { declared: () => Promise.reject(new Error("no route")) });
  assert.is(codeOf(await away.resolve("a")), "unavailable");
});

const rulesFor = (keyOrigins: BrandRules["keyOrigins"]) =>
  ({ urlMatch: "bytes", brandBytes: 262_144, webhooks: "host", keyOrigins }) as const;

brand(
  "keys are believed from the origin that the agent declares for their purpose, where the release says so",
  async () => {
    const site = web({ [BRAND]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } });
    const host = new URL(JWKS).origin;
    const judged = async (
      keyOrigins: object | undefined,
      purpose: "webhook_signing" | "request_signing",
      rule: BrandRules["keyOrigins"],
    ) => {
      const declared = async () => ({ brandUrl: BRAND, ...(keyOrigins && { keyOrigins: { ...keyOrigins } }) });
      return show(await brandSource(site, { declared, purpose, rules: rulesFor(rule) }).resolve("a"));
    };
    const good = [AGENT, "x-of-a"];
    for (const [rule, purpose] of [
      ["requests", "request_signing"],
      ["everybody", "request_signing"],
      ["everybody", "webhook_signing"],
    ] as const) {
      assert.equal(await judged({ [purpose]: host.toUpperCase() }, purpose, rule), good);
      const missing = await judged(undefined, purpose, rule);
      assert.is(missing[0], "untrusted");
      assert.match(missing[1]!, "key_origin_missing");
      assert.match((await judged({ [purpose]: "https://keys.example.com" }, purpose, rule))[1]!, "key_origin_mismatch");
      assert.match((await judged({ [purpose]: 7 }, purpose, rule))[1]!, "key_origin_mismatch");
      assert.match((await judged({ other: host }, purpose, rule))[1]!, "key_origin_missing");
    }
    assert.equal(await judged({ webhook_signing: "https://keys.example.com" }, "webhook_signing", "requests"), good);
    assert.equal(await judged(undefined, "request_signing", "nobody"), good);
    assert.equal(await judged(undefined, "request_signing", "advised"), good);
  },
);

brand("an agent that moved its brand file is asked once more, and a made-up one no oftener", async () => {
  const [first, second] = ["https://one.example.net/b.json", "https://two.example.net/b.json"];
  const site = web({
    [first]: { agents: [entry(AGENT)] },
    [second]: { agents: [entry(AGENT)] },
    [JWKS]: { keys: [key("a")] },
  });
  let says = first;
  let asked = 0;
  const source = brandSource(site, {
    declared: async () => {
      asked++;
      return { brandUrl: says };
    },
  });
  assert.is(codeOf(await source.resolve("a")), "ok");
  site.pages[first] = { agents: [] };
  says = second;
  site.clock.at += 700;
  assert.is(codeOf(await source.resolve("a")), "ok");
  site.pages[second] = { agents: [] };
  site.clock.at += 500;
  const before = asked;
  for (let n = 0; n < 5; n++) await source.resolve("made-up");
  assert.ok(asked - before <= 2, "one renewal, one look because of the agent");
});

brand("a file that did not change is not sent again, nor is one that it points to", async () => {
  const house = "https://house.example.com/.well-known/brand.json";
  const site = web({
    [BRAND]: { house: "house.example.com" },
    [house]: { agents: [{ url: AGENT }] },
    [JWKS]: { keys: [key("a")] },
  });
  site.headers[BRAND] = { etag: '"b1"', "cache-control": "max-age=60" };
  site.headers[house] = { etag: '"h1"', "cache-control": "max-age=60" };
  const source = brandSource(site);
  const tags = () =>
    site.requests.flatMap((url, at) => (url === JWKS ? [] : [site.asked[at]?.headers?.["if-none-match"]]));
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.equal(tags(), [undefined, undefined]);
  site.clock.at += 100;
  site.pages[BRAND] = 304;
  site.pages[house] = 304;
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.equal(tags(), [undefined, undefined, '"b1"', '"h1"']);
  // What changed is read anew, and what was not asked for conditionally is never believed unchanged.
  site.clock.at += 100;
  site.pages[BRAND] = { agents: [] };
  delete site.headers[BRAND];
  assert.is(codeOf(await source.resolve("a")), "untrusted");
  site.clock.at += 2000;
  site.pages[BRAND] = 304;
  assert.is(codeOf(await source.resolve("a")), "unavailable");
});

brand("a file nests 32 levels and no deeper", async () => {
  const nested = (levels: number): Page =>
    `{"agents":[{"url":"${AGENT}"}],"deep":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  for (const [levels, expected] of [
    [32, "ok"],
    [33, "unavailable"],
  ] as const) {
    const site = web({ [BRAND]: nested(levels), [JWKS]: { keys: [key("a")] } });
    assert.is(codeOf(await brandSource(site).resolve("a")), expected, String(levels));
  }
});

brand.run();
