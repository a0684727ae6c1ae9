/** Authorization files that are made to keep a registry busy: whoever writes one must not hold up everybody else. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import type { JsonRecord } from "../../runtime/registry/crawl/document.js";
import { projectEdges, setOfFile } from "../../runtime/registry/project.js";
import { processorMs } from "../support/processor.js";
import { agent, NOW, property } from "./crawl-fixture.js";

const options = { domain: "news.example", now: NOW };

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

test("files made to keep the registry busy are read in a time that grows as their length does", () => {
  const ten = (name: string, at = 0): string[] => many(10, (index) => `${name}${at}-${index}`);
  const entries = (more: object) => many(1_600, () => agent({ authorization_type: "property_tags", ...more }));
  const foreign = { publisher_domain: options.domain, identifiers: [{ type: "domain", value: "other.example" }] };
  const busy: [what: string, file: object, via?: "manager"][] = [
    [
      "one publisher named again and again",
      {
        authorized_agents: [
          agent({
            authorization_type: "publisher_properties",
            publisher_properties: [
              { publisher_domains: many(40_000, () => "a.example") },
              ...many(9_000, () => ({ publisher_domain: "b.example" })),
            ],
          }),
        ],
      },
    ],
    [
      "entries and properties whose tags do not meet",
      {
        authorized_agents: entries({ property_tags: ten("mine") }),
        properties: many(16_000, (at) => property({ tags: ten("theirs", at) })),
      },
    ],
    [
      "a manager's entries, and properties that cannot be used",
      {
        authorized_agents: entries({ property_tags: ["none"], property_ids: ten("none") }),
        properties: many(16_000, (at) => property({ ...foreign, property_id: `p${at}`, tags: [`t${at}`] })),
      },
      "manager",
    ],
  ];
  for (const [what, document, via = "own"] of busy) {
    const took = processorMs(() => void readAuthorizationFile(document as JsonRecord, { ...options, via }));
    assert.ok(took < 3_000, `${what}: ${Math.round(took)} ms`);
  }
});

test("entries that select nothing, since those before them select too much, are told, and no others", () => {
  const document = {
    authorized_agents: many(250, (at) =>
      agent({ url: `https://a${at}.example/`, authorization_type: "property_tags", property_tags: ["all"] }),
    ),
    properties: many(10_000, (at) => property({ property_id: `p${at}`, tags: ["all"] })),
  };
  const read = readAuthorizationFile(document as JsonRecord, { ...options, via: "own" });
  assert.ok(read.ok);
  const told = read.problems.filter(({ rule }) => rule === "selects_too_much").map(({ pointer }) => pointer);
  assert.is(told.length, 50);
  const set = setOfFile(read.file);
  const covering = projectEdges(set, { source: "adagents_json", now: NOW }).filter(({ covered }) => covered > 0);
  assert.equal([covering.length, covering.every(({ covered }) => covered === 10_000)], [200, true]);
  assert.equal(
    told,
    set.agents.slice(200).map(({ place }) => `/authorized_agents/${place}`),
  );
});

test("what entries select is kept as far as it has the length of some files, however many select the same, and the rest is told", () => {
  const document = {
    authorized_agents: many(180, (at) =>
      agent({ url: `https://a${at}.example/`, authorization_type: "property_tags", property_tags: ["all"] }),
    ),
    properties: many(800, (at) => property({ property_id: `p${at}`.padEnd(250, "x"), tags: ["all"] })),
  };
  const read = readAuthorizationFile(document as JsonRecord, { ...options, via: "own" });
  assert.ok(read.ok);
  const told = read.problems.filter(({ rule }) => rule === "selects_too_much").length;
  const edges = projectEdges(setOfFile(read.file), { source: "adagents_json", now: NOW });
  const kept = edges.reduce((sum, { entries }) => sum + entries.length, 0);
  assert.ok(kept < 21_000_000, `${kept} characters of a file of ${JSON.stringify(document).length}`);
  const covering = edges.filter(({ covered }) => covered > 0).length;
  assert.equal([covering > 90, covering < 100, edges.length], [true, true, 180], `${covering}`);
  assert.is(told, 180 - covering);
});

test("what a file says of others is kept as far as it has the length of a file, however many share one list, and the rest is told", () => {
  const claims = (domains: number, tags: number) => ({
    authorized_agents: [
      agent({
        authorization_type: "publisher_properties",
        publisher_properties: [
          {
            publisher_domains: many(domains, (at) => `d${at}.example`),
            selection_type: "by_tag",
            property_tags: many(tags, (at) => `t${at}`.padEnd(100, "x")),
          },
        ],
      }),
    ],
  });
  const read = (document: object) => {
    const found = readAuthorizationFile(document as JsonRecord, { ...options, via: "own" });
    assert.ok(found.ok);
    const kept = found.file.others.map(({ agent: one }) => JSON.stringify(one).length);
    return [kept.length, kept.reduce((sum, one) => sum + one, 0), found.problems.map(({ rule }) => rule)] as const;
  };
  const [count, characters, told] = read(claims(20_000, 1_000));
  assert.ok(count > 50 && characters < 9_000_000, `${count} of ${characters} characters`);
  assert.equal(told, ["list_too_long"]);
  const [all, , nothing] = read(claims(20_000, 1));
  assert.equal([all, nothing], [20_000, []]);
});

test("what a file says of one other publisher is kept as far as a publisher's answers have room for what all say", () => {
  const selector = { publisher_domain: "victim.example", selection_type: "by_id" };
  const entries = (count: number) => ({
    authorized_agents: many(count, (entry) =>
      agent({
        authorization_type: "publisher_properties",
        publisher_properties: [{ ...selector, property_ids: many(1_000, (at) => `${entry}p${at}`.padEnd(50, "x")) }],
      }),
    ),
  });
  const read = (count: number) => {
    const found = readAuthorizationFile(entries(count) as unknown as JsonRecord, { ...options, via: "own" });
    assert.ok(found.ok);
    return [found.file.others.length, found.problems.filter(({ rule }) => rule === "list_too_long").length];
  };
  assert.equal(read(2), [2, 0]);
  assert.equal(read(20), [3, 17]);
});

test.run();
