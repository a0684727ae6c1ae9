/** What is taken from an agent-authorization file: only what may speak for the domain, whatever the rest is like. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ReadOptions, readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import type { FileProblem } from "../../runtime/registry/file-problems.js";
import type { AgentEntry } from "../../runtime/registry/types.js";
import { anyProperty, entry } from "./crawl-file-arbitrary.js";
import { agent, file, NOW, property, readFile } from "./crawl-fixture.js";

const options: ReadOptions = { domain: "news.example", via: "own", now: NOW };

const one = (entry: object, given: Partial<ReadOptions> = {}): AgentEntry | undefined =>
  readFile({ authorized_agents: [agent(), entry], properties: [property()] }, given).agents[1];

const pointers = ({ problems }: { problems: readonly FileProblem[] }): string[] =>
  problems.map(({ pointer }) => pointer);

test("every kind of authorization is read, with its limits", () => {
  const found = one(
    agent({
      url: "HTTPS://Agent.Example:443/MCP/../a",
      countries: ["DE", "us", "Germany"],
      delegation_type: "delegated",
      exclusive: true,
      effective_from: "2026-01-01",
      effective_until: "2026-12-31T23:59:59Z",
      placement_ids: ["top"],
      placement_tags: ["wide"],
      signing_keys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "abc" }, { kid: "k" }, "no"],
    }),
  );
  assert.equal(found, {
    agentUrl: "https://agent.example/a",
    authorizedFor: "display",
    authorizationType: "property_ids",
    propertyIds: ["home"],
    countries: ["DE", "US"],
    delegationType: "delegated",
    exclusive: true,
    effectiveFrom: Date.UTC(2026, 0, 1),
    effectiveUntil: Date.UTC(2026, 11, 31, 23, 59, 59),
    placementIds: ["top"],
    placementTags: ["wide"],
    signingKeys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "abc" }],
    place: 1,
  });
  const of = (more: object) => one({ url: "https://b.example", authorized_for: "x", ...more });
  assert.equal(of({ authorization_type: "property_tags", property_tags: ["news"] })?.propertyTags, ["news"]);
  assert.equal(of({ authorization_type: "signal_ids", signal_ids: ["s"] })?.signalIds, ["s"]);
  assert.equal(of({ authorization_type: "signal_tags", signal_tags: ["s"] })?.signalTags, ["s"]);
  assert.equal(of({ authorization_type: "inline_properties", properties: [property()] })?.properties?.[0]?.id, "home");
  // What does not say which it is, or for what, must not count as everything.
  assert.is(of({}), undefined);
  assert.is(of({ property_ids: ["home"] }), undefined);
  assert.is(one({ url: "https://b.example", authorization_type: "property_ids", property_ids: ["home"] }), undefined);
});

test("one bad entry is left out and noted; the others stay", () => {
  const bad: object[] = [
    agent({ url: "http://agent.example" }),
    agent({ url: 7 }),
    agent({ authorization_type: "everything" }),
    agent({ property_ids: [] }),
    agent({ property_ids: "home" }),
    agent({ countries: ["Germany"] }),
    agent({ countries: "DE" }),
    agent({ effective_from: "tomorrow" }),
    // A limit that nobody can read must not count as none.
    agent({ placement_ids: [] }),
    agent({ placement_ids: "top" }),
    agent({ placement_tags: [7] }),
    agent({ collections: "sport" }),
    agent({ signing_keys: [{ kid: "k" }] }),
    agent({ signing_keys: "k" }),
    agent({ effective_from: "2026-02-01", effective_until: "2026-01-01" }),
    { url: "https://a.example", property_ids: ["x"], property_tags: ["y"] },
    agent({ authorization_type: "publisher_properties", publisher_properties: [] }),
    agent({ authorization_type: "inline_properties", properties: [{ name: "no type" }] }),
    [] as object,
    null as unknown as object,
  ];
  const found = readFile({ authorized_agents: [...bad, agent()], properties: [property()] });
  assert.equal(
    found.agents.map(({ agentUrl }) => agentUrl),
    ["https://agent.example/"],
  );
  for (const index of bad.keys())
    assert.ok(
      pointers(found).some((pointer) => pointer.startsWith(`/authorized_agents/${index}`)),
      `entry ${index} is noted`,
    );
});

test("a file without one usable entry is invalid, one without entries is not", () => {
  assert.is(readAuthorizationFile({ authorized_agents: [{}] }, options).ok, false);
  assert.is(readAuthorizationFile({ authorized_agents: "x" }, options).ok, false);
  assert.equal(readFile({ authorized_agents: [], properties: [property()] }).properties.length, 1);
});

test("properties of other publishers are never taken, and ids of theirs authorize nothing here", () => {
  const document = {
    authorized_agents: [
      agent({ property_ids: ["home", "theirs"] }),
      agent({ url: "https://b.example/", property_ids: ["theirs"] }),
      agent({
        url: "https://c.example/",
        authorization_type: "inline_properties",
        properties: [property({ publisher_domain: "victim.example" }), property({ property_id: "mine" })],
      }),
      agent({
        url: "https://d.example/",
        authorization_type: "inline_properties",
        properties: [property({ publisher_domain: "victim.example" })],
      }),
    ],
    properties: [
      property(),
      property({ property_id: "theirs", publisher_domain: "victim.example" }),
      property({ property_id: "www", publisher_domain: "www.news.example" }),
      property({ property_id: "sub", publisher_domain: "sub.news.example" }),
    ],
  };
  const found = readFile(document);
  assert.equal(
    found.properties.map(({ id }) => id),
    ["home", "www"],
  );
  assert.equal(
    found.agents.map(({ agentUrl }) => agentUrl),
    ["https://agent.example/", "https://c.example/"],
  );
  assert.equal(found.agents[0]?.propertyIds, ["home"]);
  assert.equal(
    found.agents[1]?.properties?.map(({ id }) => id),
    ["mine"],
  );
  assert.equal(pointers(found), [
    "/properties/1",
    "/properties/3",
    "/authorized_agents/2/properties/0",
    "/authorized_agents/3/properties/0",
  ]);
});

const selecting = (...publisher_properties: object[]): object =>
  agent({ authorization_type: "publisher_properties", publisher_properties, signing_keys: [{ kid: "k", kty: "OKP" }] });

test("selectors that name other publishers become claims about those, and nothing else", () => {
  const document = {
    authorized_agents: [
      selecting(
        { publisher_domain: "News.example", selection_type: "by_id", property_ids: ["home"] },
        { publisher_domain: "one.example", selection_type: "by_tag", property_tags: ["sport"] },
        { publisher_domains: ["one.example", "two.example", "not a domain"], selection_type: "all" },
      ),
      selecting({ publisher_domains: ["x.example"], selection_type: "by_id", property_ids: ["a"] }),
      selecting({ publisher_domain: "x.example", publisher_domains: ["y.example"] }),
      selecting({ publisher_domain: "*.x.example" }),
      selecting({ publisher_domain: "x.example", selection_type: "by_mood" }),
    ],
    properties: [property()],
  };
  const found = readFile(document);
  assert.equal(
    found.agents.map(({ publisherProperties }) => publisherProperties),
    [[{ propertyIds: ["home"] }]],
  );
  assert.equal(
    found.others.map(({ publisherDomain, agent: { publisherProperties, signingKeys } }) => [
      publisherDomain,
      publisherProperties,
      signingKeys,
    ]),
    [
      ["one.example", [{ tags: ["sport"] }, {}], undefined],
      ["two.example", [{}], undefined],
    ],
  );
  // A file that many publishers point to would say the same for each of them: its own crawl says it.
  assert.equal(readFile(document, { via: "pointed" }).others, []);
});

test("a revoked domain is spoken for no more, while the revocation is held", () => {
  const revoked_publisher_domains = [
    { publisher_domain: "news.example", revoked_at: "2026-03-01T00:00:00Z", reason: "publisher_request" },
    { publisher_domain: "one.example", revoked_at: "2030-01-01T00:00:00Z" },
  ];
  const named = {
    authorized_agents: [selecting({ publisher_domains: ["news.example", "one.example", "two.example"] })],
    properties: [property({ publisher_domain: "news.example" })],
  };
  const found = readFile({ ...named, revoked_publisher_domains }, { via: "manager" });
  assert.equal([found.agents, found.properties], [[], []]);
  assert.equal(pointers(found), ["/revoked_publisher_domains"]);
  // One that lies ahead is not in force yet.
  assert.is(
    readFile({ ...named, revoked_publisher_domains }, { via: "manager", domain: "one.example" }).agents.length,
    1,
  );
  assert.equal(readFile(named, { via: "manager", revoked: ["news.example"] }).agents, []);
  const claims = readFile(named, { domain: "manager.example", revoked: ["two.example"] }).others;
  assert.equal(
    claims.map(({ publisherDomain }) => publisherDomain),
    ["news.example", "one.example"],
  );
});

test("genres and the file's date are read; texts are made such that every database keeps them", () => {
  const found = readFile(
    file({
      last_updated: "2026-02-01T00:00:00Z",
      collections: [{ genre: ["IAB1", "IAB2"], genre_taxonomy: "iab_content_3.1" }, { genre: "IAB1" }, 7],
      properties: [property({ name: "Ho\u0000me\n\ud800", property_id: "\u0000", tags: ["a", "\u0000", "a", 7] })],
    }),
  );
  assert.equal(
    [found.genres, found.genreTaxonomy, found.lastUpdated],
    [["IAB1", "IAB2"], "iab_content_3.1", Date.UTC(2026, 1, 1)],
  );
  assert.equal(
    [found.properties[0]?.name, found.properties[0]?.id, found.properties[0]?.tags],
    ["Ho me \ufffd", null, ["a"]],
  );
});

test("huge lists are cut, and the problems with them", () => {
  const found = readFile({
    authorized_agents: Array.from({ length: 6_000 }, (_, index) => agent({ url: `https://a${index}.example/` })),
    properties: Array.from({ length: 101_000 }, () => ({})),
  });
  assert.is(found.agents.length, 5_000);
  assert.is(found.problems.length, 101);
  assert.is(found.problems.at(-1)?.message, "and 104902 more");
});

test("whatever a file holds: nothing throws, and nothing is taken that is another publisher's", () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 8 }),
      fc.array(anyProperty, { maxLength: 8 }),
      fc.constantFrom("own" as const, "pointed" as const, "manager" as const),
      (authorized_agents, properties, via) => {
        const result = readAuthorizationFile({ authorized_agents, properties }, { ...options, via });
        if (!result.ok) return;
        const { agents, properties: taken, others } = result.file;
        const mine = properties.filter(({ publisher_domain: owner }) =>
          owner === undefined || owner === null
            ? via !== "manager"
            : /^(?:https?:\/\/)?(?:www\.)?news\.example/.test(typeof owner === "string" ? owner : ""),
        );
        assert.ok(taken.length <= mine.length);
        if (via !== "own") assert.is(others.length, 0);
        assert.ok(others.every(({ publisherDomain }) => publisherDomain !== "news.example"));
        const known = new Set(taken.map(({ id }) => id));
        for (const { authorizationType, propertyIds } of agents) {
          if (via === "manager" && authorizationType === "property_ids")
            assert.ok(propertyIds!.every((id) => known.has(id)));
          assert.is.not(authorizationType, null);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test.run();
