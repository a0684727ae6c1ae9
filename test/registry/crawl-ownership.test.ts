/** Whose an identifier is, what signals need, and what a file without agents is. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ReadOptions, readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import { agent, NOW, property, readFile } from "./crawl-fixture.js";

const options: ReadOptions = { domain: "news.example", via: "own", now: NOW };

test("a name in DNS is taken only of the file's own domain and what is under it", () => {
  const of = (value: string, given: Partial<ReadOptions> = {}, type = "domain") =>
    readFile({ authorized_agents: [agent()], properties: [property({ identifiers: [{ type, value }] })] }, given);
  const own = [
    "news.example",
    "NEWS.example.",
    "www.news.example",
    "m.news.example",
    "a.b.news.example",
    "*.news.example",
  ];
  for (const value of own) assert.is(of(value).properties.length, 1, value);
  const foreign = [
    "victim.example",
    "example",
    "xnews.example",
    "news.example.victim.example",
    "*.example",
    "*",
    "",
    "no domain",
  ];
  for (const value of foreign) {
    const { properties, problems } = of(value);
    assert.is(properties.length, 0, value);
    assert.ok(
      problems.some(({ pointer }) => pointer.startsWith("/properties/0/identifiers/0")),
      value,
    );
  }
  assert.is(of("victim.example", {}, "subdomain").properties.length, 0);
  assert.is(of("victim.example", {}, "Domain").properties.length, 0);
  // Below a file's domain, not beside or above it; and a shared suffix hands its names to others.
  assert.is(of("news.example", { domain: "blog.news.example" }).properties.length, 0);
  assert.is(of("news.example", { domain: "www.news.example" }).properties.length, 1);
  for (const value of ["victim.github.io", "*.github.io"])
    assert.is(of(value, { domain: "github.io" }).properties.length, 0, value);
  assert.is(of("a.tenant.github.io", { domain: "tenant.github.io" }).properties.length, 1);
  // A tenant may be called as the host of a site is: it is no more the suffix's, and no less its own.
  for (const tenant of ["m.github.io", "www.github.io"]) {
    for (const value of ["github.io", "*.github.io", "www.github.io", "m.github.io"])
      assert.is(of(value, { domain: tenant }).properties.length, value === tenant ? 1 : 0, `${value} of ${tenant}`);
    assert.is(of(`a.${tenant}`, { domain: tenant }).properties.length, 1, tenant);
    const labelled = property({ publisher_domain: tenant, identifiers: [{ type: "ios_bundle", value: "com.news" }] });
    const found = readFile(
      { authorized_agents: [agent()], properties: [labelled] },
      { domain: "github.io", via: "pointed" },
    );
    assert.equal(found.properties, [], `${tenant} is not declared by the file of its suffix`);
  }
});

test("a property that names another's domain is left out whole, and says by which rule, and what to do", () => {
  const identifiers = [
    { type: "domain", value: "news.example" },
    { type: "domain", value: "victim.example" },
    { type: "ios_bundle", value: "com.news" },
  ];
  const clean = property({ property_id: "clean", identifiers: [identifiers[0]] });
  const given = { authorized_agents: [agent()], properties: [property({ identifiers }), clean] };
  const { properties, problems } = readFile(given);
  assert.equal(
    properties.map(({ id }) => id),
    ["clean"],
    "the others stay",
  );
  assert.equal(
    problems.slice(0, 1).map(({ rule, pointer, effect }) => [rule, pointer, effect]),
    [["identifier_foreign", "/properties/0/identifiers/1/value", "left"]],
  );
  assert.match(problems[0]!.remedy, "the file of that domain");
});

test("signals are read by the published schema, and what selects none of them is told", () => {
  const good = { id: "s1", name: "Readers", value_type: "binary", tags: ["t1"], category: "interest" };
  const bad = [
    [{ ...good, id: "no good" }, "signal_id"],
    [{ ...good, id: "n", name: "" }, "signal_name"],
    [{ ...good, id: "v", value_type: "text" }, "signal_value_type"],
    [{ ...good, id: "t", tags: ["No"] }, "signal_tags"],
    [{ ...good, id: "a", value_type: "categorical", allowed_values: [] }, "signal_values"],
    [{ ...good, id: "r", value_type: "numeric", range: { min: 2, max: 1 } }, "signal_range"],
    [{ ...good, id: "c", category: 7 }, "signal_category"],
    [{ ...good, id: "m", value_type: "categorical" }, "signal_values_missing"],
    [{ ...good, id: "u", tags: ["t2"] }, "signal_tag_undefined"],
    ["s", "signal_shape"],
    [good, "signal_id_twice"],
  ] as const;
  const { problems, agents } = readFile({
    authorized_agents: [
      agent({ authorization_type: "signal_ids", signal_ids: ["s1"] }),
      agent({ url: "https://b.example/", authorization_type: "signal_ids", signal_ids: ["s9"] }),
      agent({ url: "https://c.example/", authorization_type: "signal_tags", signal_tags: ["NO"] }),
    ],
    signals: [good, ...bad.map(([signal]) => signal)],
    signal_tags: { t1: { name: "One", description: "The first" } },
  });
  assert.equal(
    problems.map(({ rule }) => rule),
    [...bad.map(([, rule]) => rule), "signal_id_unknown", "signal_pattern"],
  );
  assert.is(agents.length, 2);
});

test("a file that names nobody and publishes nothing is none; one with a catalogue is", () => {
  const result = readAuthorizationFile({ authorized_agents: [] }, options);
  assert.equal([result.ok, result.problems[0]?.rule], [false, "nothing_declared"]);
  for (const name of ["properties", "placements", "formats", "collections", "signals"])
    assert.ok(readAuthorizationFile({ authorized_agents: [], [name]: [{}] }, options).ok, name);
});

test("a manager's file names a publisher by a property that cannot be used, which then authorizes nothing", () => {
  const nameless = { property_id: "blog", property_type: "website", publisher_domain: "news.example" };
  const named = agent({ authorization_type: "property_ids", property_ids: ["blog"] });
  const file = { authorized_agents: [named], properties: [nameless] };
  const read = readAuthorizationFile(file, { ...options, via: "manager" });
  assert.ok(read.ok, JSON.stringify(read.problems));
  assert.equal([read.file.agents, read.file.properties], [[], []]);
  assert.ok(read.problems.some(({ rule }) => rule === "property_name"));
  const other = readAuthorizationFile(
    { ...file, properties: [{ ...nameless, publisher_domain: "two.example" }] },
    { ...options, via: "manager" },
  );
  assert.equal([other.ok, other.problems[0]?.rule], [false, "manager_silent"]);
});

test("two entries of one agent are both taken, and noted", () => {
  const { agents, problems } = readFile({ authorized_agents: [agent(), agent()], properties: [property({})] });
  assert.equal([agents.length, problems.map(({ rule }) => rule)], [2, ["agent_twice"]]);
});

test.run();
