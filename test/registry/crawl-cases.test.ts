/** The constructed files of the corpus: what ours says of each, and why where the official Python SDK says otherwise. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isJsonObject } from "../../runtime/contract/json-object.js";
import { readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import { projectEdges } from "../../runtime/registry/project.js";
import { corpus } from "../support/corpus.js";

interface Case {
  readonly name: string;
  readonly file: Record<string, unknown>;
  readonly python: { readonly valid: boolean; readonly properties: readonly string[] | string };
}

interface Verdict {
  readonly valid: boolean;
  readonly properties: readonly string[];
}

const NOW = Date.UTC(2026, 10, 22);
const AGENT = "https://seller.example/mcp";

/** Where ours differs, and the published text that settles it. */
const settled: Readonly<Record<string, Verdict & { readonly text: string }>> = {
  "15 authorized_for missing": {
    valid: false,
    properties: [],
    text: "core/authorized-agent-base.json requires authorized_for: the entry is none, and it is the only one",
  },
  "22 http url": {
    valid: false,
    properties: [],
    text: "an agent is spoken to over https (docs/protocol/files.md#authorized-agents)",
  },
  "23 url with trailing slash": {
    valid: true,
    properties: [],
    text: "url: canonicalize, do not cut: a path's last slash is part of it, so it is another agent",
  },
  "25 one good, one bare": {
    valid: true,
    properties: ["main"],
    text: "adagents.mdx: a fault of one entry does not abort the file; the bare one authorizes nothing",
  },
  "28 publisher_properties all, properties unlabelled": {
    valid: true,
    properties: ["app", "main"],
    text: "core/property.json: publisher_domain is optional in adagents.json, the file's location implies it",
  },
  "29 property of another publisher": {
    valid: true,
    properties: [],
    text: "core/property.json: it is checked where publisher_domain says, which is not here",
  },
  "30 own property, identifier of another domain": {
    valid: true,
    properties: [],
    text: "core/property.json: a domain identifier is the name itself, and victim.example is not this file's to give",
  },
  "31 effective_until past": {
    valid: true,
    properties: [],
    text: "outside effective_from and effective_until nothing is authorized",
  },
  "32 effective_from ahead": {
    valid: true,
    properties: [],
    text: "outside effective_from and effective_until nothing is authorized",
  },
  "34 by_id selector without property_ids": {
    valid: false,
    properties: [],
    text: "core/publisher-property-selector.json: by_id requires property_ids; no entry is left",
  },
};

/** What our reader and our projection make of a file for the agent that is asked about. */
function verdictOf(file: Record<string, unknown>): Verdict {
  if (typeof file.authoritative_location === "string") return { valid: true, properties: [] };
  assert.ok(isJsonObject(file as never));
  const read = readAuthorizationFile(file as never, { domain: "news.example", via: "own", now: NOW });
  if (!read.ok) return { valid: false, properties: [] };
  const set = { properties: read.file.properties, agents: read.file.agents };
  const edge = projectEdges(set, { source: "adagents_json", claimant: "", now: NOW }).find(
    ({ agentUrl }) => agentUrl === AGENT,
  );
  const entries = JSON.parse(edge?.entries ?? "[]") as {
    covers: string[] | null;
    effectiveFrom?: number;
    effectiveUntil?: number;
  }[];
  const active = entries.filter((one) => (one.effectiveFrom ?? 0) <= NOW && NOW <= (one.effectiveUntil ?? NOW));
  const keys = active.flatMap(({ covers }) => covers ?? read.file.properties.map(({ id }) => `#${id}`));
  const ids = new Set(read.file.properties.map(({ id }) => `#${id}`));
  for (const { properties } of read.file.agents) for (const { id } of properties ?? []) ids.add(`#${id}`);
  return {
    valid: true,
    properties: [...new Set(keys)]
      .filter((key) => ids.has(key))
      .map((key) => key.slice(1))
      .sort(),
  };
}

const found = path.join(corpus, "registry/adagents-cases.json");
if (!existsSync(found)) console.log("skipped: registry/adagents-cases.json of the corpus is not here");
else {
  const { cases } = JSON.parse(readFileSync(found, "utf8")) as { cases: Case[] };
  for (const { name, file, python } of cases) {
    test(`the file of ${name} is judged as the corpus says`, () => {
      const expected: Verdict = settled[name] ?? {
        valid: python.valid,
        properties: typeof python.properties === "string" ? [] : python.properties,
      };
      const { valid, properties } = verdictOf(file);
      assert.equal({ valid, properties }, { valid: expected.valid, properties: expected.properties });
    });
  }
  test("every difference that is settled is one", () => {
    for (const name of Object.keys(settled)) {
      const one = cases.find((given) => given.name === name);
      const { valid, properties } = settled[name]!;
      assert.ok(one !== undefined, name);
      assert.not.equal({ valid, properties }, one.python, name);
    }
  });
}

test.run();
