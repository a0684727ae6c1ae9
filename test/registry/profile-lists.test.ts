/** Lists of profiles that files make long: each agent has its own, so that few tags of one file are many of the store. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { contributionOf } from "../../runtime/registry/contribution.js";
import { projectEdges } from "../../runtime/registry/project.js";
import { NOW } from "./crawl-fixture.js";

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const tagged = (tags: readonly string[], type = "website") => ({ type, tags });

test("what a file adds to a profile has as many values and characters as a profile's list, however long its tags are", () => {
  const short = many(600, (at) => `t${String(at).padStart(3, "0")}`);
  assert.equal(contributionOf([tagged(short)]).tags, short.slice(0, 500));
  const long = many(600, (at) => `t${at}`.padEnd(250, "x"));
  const { tags, types, counts } = contributionOf(long.map((tag) => tagged([tag], tag)));
  for (const list of [tags, types]) assert.is(list.length, 40);
  assert.equal(Object.keys(counts!).sort(), [...types].sort());
});

test("agents that share the tags of a file keep some kilobytes each", () => {
  const properties = many(20, (at) => ({
    ...{ id: `p${at}`, type: "website", name: "n", identifiers: [] },
    tags: ["all", ...many(199, (tag) => `${at}-${tag}`.padEnd(200, "x"))],
  }));
  const agents = many(100, (at) => ({
    ...{ agentUrl: `https://a${at}.example/`, authorizedFor: "x" },
    ...{ authorizationType: "property_tags" as const, propertyTags: ["all"] },
  }));
  const edges = projectEdges({ properties, agents }, { source: "adagents_json", now: NOW });
  assert.equal([edges.length, edges.every(({ covered }) => covered === 20)], [100, true]);
  const characters = edges.reduce((sum, { coverage }) => sum + (coverage?.length ?? 0), 0);
  assert.ok(characters < 100 * 12_000, `${characters} characters`);
});

test.run();
