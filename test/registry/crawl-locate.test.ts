/** Where a domain's files are found, over an HTTP interceptor. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { managerDomainOf } from "../../runtime/registry/crawl/ads-txt.js";
import { crawlDomain } from "../../runtime/registry/crawl/crawl.js";
import { agent, context, file, property, WELL_KNOWN } from "./crawl-fixture.js";
import { serve, site } from "./crawl-nock.js";

test.before(() => nock.disableNetConnect());
test.after.each(() => nock.cleanAll());
test.after(() => {
  nock.enableNetConnect();
  nock.restore();
});

const crawl = (domain: string, given = {}) => crawlDomain(context(given), domain);

interface Vector {
  id: string;
  target: "well_known" | "authoritative_location";
  origin_url: string;
  redirect_chain: { status: number; location: string }[];
  expected: { result: "resolved" | "refused"; reason?: string; final_url?: string };
}

const vectorFile = path.join(process.env.ADBIND_CORPUS ?? "../shared", "vectors/adagents-discovery-redirects.json");
const messageOf: Record<string, string> = {
  cross_registrable_domain: "a redirect leaves the registrable domain of the first URL",
  scheme_downgrade: "a redirect goes from https to http",
  too_many_redirects: "there are more redirects than the policy allows",
  redirect_on_authoritative_location: "the authoritative location redirects",
};

if (!existsSync(vectorFile)) {
  test("redirect vectors are skipped where they are not there", () => console.log("skipped: no corpus"));
} else {
  const { vectors } = JSON.parse(readFileSync(vectorFile, "utf8")) as { vectors: Vector[] };
  test("at least twelve redirect vectors are there", () => assert.ok(vectors.length >= 12));
  for (const vector of vectors) {
    test(`redirects are followed as vector ${vector.id} says`, async () => {
      const pointed = vector.target === "authoritative_location";
      const domain = pointed ? "publisher.example" : new URL(vector.origin_url).hostname;
      const hops = [vector.origin_url, ...vector.redirect_chain.map(({ location }) => location)];
      if (pointed) site(domain, { adagents: { body: { authoritative_location: vector.origin_url } } });
      const scopes = hops.map((url, index) => serve(url, vector.redirect_chain[index] ?? { body: file() }));
      const { result, error, retry } = await crawl(domain);
      const { outcome, resolvedUrl, method } = result.adagents;
      if (vector.expected.result === "resolved") {
        assert.equal([outcome, method, resolvedUrl, error], ["valid", "direct", vector.expected.final_url, null]);
        return;
      }
      assert.equal([outcome, error, retry], ["unreachable", messageOf[vector.expected.reason!], true]);
      assert.not.ok(scopes.at(-1)?.isDone(), "the refused hop is not asked");
    });
  }
}

test("a file at its own place is direct, and its status and size are told", async () => {
  site("news.example", { adagents: { body: file() } });
  const { result, retry } = await crawl("news.example");
  const { adagents, brand } = result;
  assert.equal(
    [
      adagents.outcome,
      adagents.method,
      adagents.httpStatus,
      adagents.bytes,
      adagents.resolvedUrl,
      adagents.managerDomain,
    ],
    ["valid", "direct", 200, JSON.stringify(file()).length, null, null],
  );
  assert.equal([brand.outcome, retry], ["absent", false]);
});

test("a pointer is followed once, over https, and not on", async () => {
  const elsewhere = "https://network.example/files/adagents.json";
  site("news.example", { adagents: { body: { authoritative_location: elsewhere } } });
  serve(elsewhere, { body: file() });
  const { adagents } = (await crawl("news.example")).result;
  assert.equal(
    [adagents.outcome, adagents.method, adagents.resolvedUrl],
    ["valid", "authoritative_location", elsewhere],
  );
  assert.is(adagents.file?.properties.length, 1);

  const cases: [object, string, string][] = [
    [{ authoritative_location: "http://network.example/a" }, "invalid", "authoritative_location is not an https URL"],
    [{ authoritative_location: "//network.example/a" }, "invalid", "authoritative_location is not an https URL"],
    [
      { authoritative_location: `https://long.example/${"a".repeat(9_000)}` },
      "invalid",
      "authoritative_location is longer than 8192 characters",
    ],
    [
      { authoritative_location: "https://nested.example/a" },
      "invalid",
      "authoritative_location points to a file that points on",
    ],
    [{ authoritative_location: "https://gone.example/a" }, "unreachable", "the origin answered with status 404"],
    [{ authoritative_location: "https://10.0.0.1/a" }, "unreachable", "the origin could not be reached"],
    [{ authoritative_location: "https://localhost/a" }, "unreachable", "the origin could not be reached"],
  ];
  serve("https://nested.example/a", { body: { authoritative_location: "https://nested.example/b" } });
  serve("https://gone.example/a", { status: 404 });
  for (const [index, [body, outcome, message]] of cases.entries()) {
    const domain = `p${index}.example`;
    site(domain, { adagents: { body } });
    const { result, error } = await crawl(domain);
    assert.equal(
      [result.adagents.outcome, result.adagents.method, error],
      [outcome, "authoritative_location", message],
    );
  }
});

test("a pointer to the file that the registry hosts is read without asking over the network", async () => {
  const hosted = `https://registry.example/publisher/news.example${WELL_KNOWN}`;
  site("news.example", { adagents: { body: { authoritative_location: hosted } } });
  const asked: string[] = [];
  const hostedFile = async (domain: string) => {
    asked.push(domain);
    return file() as never;
  };
  const { adagents } = (await crawl("news.example", { hostedFile })).result;
  assert.equal([adagents.outcome, adagents.resolvedUrl, asked], ["valid", hosted, ["news.example"]]);

  site("other.example", { adagents: { body: { authoritative_location: hosted.replace("news", "other") } } });
  assert.is((await crawl("other.example")).result.adagents.outcome, "unreachable");
});

test("what an origin answers decides whether it is asked again, and what is known of it", async () => {
  const cases: [number | string, string, boolean][] = [
    [404, "absent", false],
    [410, "absent", false],
    [401, "unreachable", true],
    [403, "unreachable", true],
    [429, "unreachable", true],
    [451, "unreachable", true],
    [500, "unreachable", true],
    [503, "unreachable", true],
    ["<!doctype html><title>Not found</title>", "unreachable", true],
    ['{"authorized_agents": [', "unreachable", true],
    ['{"authorized_agents": [], "authorized_agents": []}', "unreachable", true],
    ["[]", "invalid", false],
    ["{}", "invalid", false],
    ['{"authorized_agents": {}}', "invalid", false],
    ['{"authorized_agents": [{}]}', "invalid", false],
    ['{"authorized_agents": []}', "invalid", false],
    ['\ufeff{"authorized_agents": [], "formats": [{}]}', "valid", false],
  ];
  for (const [index, [given, outcome, retry]] of cases.entries()) {
    const domain = `c${index}.example`;
    site(domain, { adagents: typeof given === "number" ? { status: given } : { body: given } });
    const crawled = await crawl(domain);
    assert.equal([crawled.result.adagents.outcome, crawled.retry], [outcome, retry], String(given));
    const malformed = typeof given === "string" && outcome === "unreachable";
    // An answer that stays no JSON is the file's fault in the end; a server that is down is nobody's.
    assert.is(crawled.last.adagents.outcome, malformed ? "invalid" : outcome, String(given));
    assert.is(crawled.error === null, outcome === "valid");
  }
});

test("MANAGERDOMAIN: the last eligible entry counts", () => {
  const cases: [string, string | undefined][] = [
    ["managerdomain=manager.example", "manager.example"],
    ["ManagerDomain = Manager.Example # our network\r\n", "manager.example"],
    ["managerdomain=first.example\nmanagerdomain=second.example", "second.example"],
    ["managerdomain=first.example\nmanagerdomain=second.example # NoAgents", "first.example"],
    ["managerdomain=first.example#noagents", undefined],
    ["managerdomain=manager.example,US", undefined],
    ["managerdomain=https://manager.example/", undefined],
    ["managerdomain=127.0.0.1", undefined],
    ["# managerdomain=manager.example", undefined],
    ["google.com, pub-1, DIRECT, f08c47fec0942fa0\nownerdomain=x.example", undefined],
    ["", undefined],
  ];
  for (const [text, expected] of cases) assert.is(managerDomainOf(text), expected, text);
});

const managed = (publisher_domain: string): object => ({
  authorized_agents: [
    agent({
      authorization_type: "publisher_properties",
      publisher_properties: [{ publisher_domain, selection_type: "all" }],
    }),
  ],
});

test("a manager's file speaks for a publisher that it names, when the publisher has none", async () => {
  const denied = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
  for (const [domain, adagents] of [
    ["news.example", { status: 404 }],
    ["bucket.example", { status: 403, body: denied }],
  ] as const) {
    site(domain, { adagents, ads: { body: "managerdomain=manager.example" } });
    serve(`https://manager.example${WELL_KNOWN}`, { body: managed(domain) });
    const { adagents: found } = (await crawl(domain)).result;
    assert.equal(
      [found.outcome, found.method, found.managerDomain, found.resolvedUrl, found.file?.agents.length],
      ["valid", "ads_txt_managerdomain", "manager.example", `https://manager.example${WELL_KNOWN}`, 1],
    );
    nock.cleanAll();
  }
});

test("a manager's file that does not name the publisher says nothing for it", async () => {
  const bodies = [
    managed("other.example"),
    // Ids of nobody's properties do not name it.
    file(),
    file({ properties: [property({ publisher_domain: "other.example" })] }),
  ];
  for (const [index, body] of bodies.entries()) {
    const domain = `m${index}.example`;
    site(domain, { ads: { body: `managerdomain=manager${index}.example` } });
    serve(`https://manager${index}.example${WELL_KNOWN}`, { body });
    const { result, error } = await crawl(domain);
    assert.equal([result.adagents.outcome, error], ["invalid", "the manager's file does not name this publisher"]);
  }
  site("reached.example", { ads: { body: "managerdomain=manager9.example" } });
  serve(`https://manager9.example${WELL_KNOWN}`, {
    body: file({ properties: [property({ publisher_domain: "reached.example" }), property({ property_id: "x" })] }),
  });
  const { adagents } = (await crawl("reached.example")).result;
  assert.equal(
    adagents.file?.properties.map(({ id }) => id),
    ["home"],
  );
});

test("ads.txt is asked only where there is no file, and a manager is one step away", async () => {
  for (const [domain, adagents] of [
    ["down.example", { status: 500 }],
    ["broken.example", { body: "{" }],
    ["closed.example", { status: 403, body: "Forbidden" }],
  ] as const) {
    const [, ads] = site(domain, { adagents, ads: { body: "managerdomain=manager.example" } });
    await crawl(domain);
    assert.not.ok(ads!.isDone(), domain);
    nock.cleanAll();
  }
  // Itself, a manager that has a manager, and one that is not there.
  site("self.example", { ads: { body: "managerdomain=self.example" } });
  assert.is((await crawl("self.example")).result.adagents.outcome, "absent");
  const [, deeper] = site("manager.example", { ads: { body: "managerdomain=further.example" } });
  site("news.example", { ads: { body: "managerdomain=manager.example" } });
  assert.is((await crawl("news.example")).result.adagents.outcome, "absent");
  assert.not.ok(deeper!.isDone());
  // While ads.txt cannot be read, nobody knows whether there is a manager.
  site("flaky.example", { ads: { status: 503 } });
  const flaky = await crawl("flaky.example");
  assert.equal([flaky.result.adagents.outcome, flaky.retry], ["unreachable", true]);
  // One that leads away from https names nobody, however often it is asked for.
  site("plain.example", { ads: { status: 301, location: "http://plain.example/ads.txt" } });
  const plain = await crawl("plain.example");
  assert.equal([plain.result.adagents.outcome, plain.retry], ["absent", false]);
});

test.run();
