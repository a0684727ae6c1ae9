/** The answers of our description, by their examples, before the schemas that the public registry publishes for the same places. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { corpus } from "../support/corpus.js";
import { type Json, root } from "./read-release.js";

const published = path.join(corpus, "registry/public-openapi.yaml");

/** What stays different, and why. */
const APART: Readonly<Record<string, string>> = {
  "get /api/properties/resolve 404": "the example is of all places; the answer itself names the domain",
  "get /api/brands/resolve 404": "the example is of all places; the answer itself names the domain",
  "post /api/properties/resolve/bulk 200":
    "null, as meant there: the schema asks for an object and for an object or null",
  "post /api/brands/resolve/bulk 200": "null, as meant there: the schema asks for an object and for an object or null",
  "get /api/brands/registry 200": "the example is of all lists; the answer itself has every count",
  "get /api/brands/find 200": "its schema puts a list of results in each result",
  "post /api/registry/crawl-request 503": "codes of a queue that is no part of ours",
  "post /api/registry/publisher/{domain}/adagents/revalidate 503": "codes of a queue that is no part of ours",
};

const at = (document: Json, node: Json): Json =>
  node?.$ref === undefined
    ? node
    : node.$ref
        .slice("#/".length)
        .split("/")
        .reduce((found: Json, key: string) => found[key], document);

const jsonOf = (document: Json, answer: Json): Json => at(document, answer)?.content?.["application/json"];

test("what the registry answers is valid where the public registry answers the same", () => {
  if (!existsSync(published)) return console.log(`skipped: no ${published}`);
  const ours: Json = parse(readFileSync(path.join(root, "manifests/registry/openapi.yaml"), "utf8"));
  const theirs: Json = parse(readFileSync(published, "utf8"));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "published", ...theirs });
  const judged = new Map<string, boolean>();
  for (const [route, methods] of Object.entries<Json>(ours.paths))
    for (const [method, operation] of Object.entries<Json>(methods))
      for (const [status, answer] of Object.entries<Json>(operation.responses ?? {})) {
        const other = jsonOf(theirs, theirs.paths[route]?.[method]?.responses?.[status]);
        if (other === undefined) continue;
        const validate = ajv.compile(
          JSON.parse(JSON.stringify(other.schema).replaceAll('"#/components', '"published#/components')),
        );
        const examples = Object.values<Json>(jsonOf(ours, answer)?.examples ?? {});
        judged.set(
          `${method} ${route} ${status}`,
          examples.every((example) => validate(at(ours, example).value)),
        );
      }
  assert.ok(judged.size > 60, String(judged.size));
  const refused = [...judged].filter(([, valid]) => !valid).map(([place]) => place);
  assert.equal(refused.sort(), Object.keys(APART).sort());
});

test.run();
