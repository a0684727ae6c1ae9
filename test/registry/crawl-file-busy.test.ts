/** Authorization files that are made to keep a registry busy: whoever writes one must not hold up everybody else. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readAuthorizationFile } from "../../runtime/registry/crawl/authorization-file.js";
import type { JsonRecord } from "../../runtime/registry/crawl/document.js";
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

test.run();
