/** Every schema file of our own releases: identity, references, examples, and the shapes that travel outside tools. */

import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  corpus,
  type Json,
  objectsIn,
  ours,
  readRelease,
  rootProperties,
  rootRequired,
  validatorsOf,
  versions,
} from "./read-release.js";

const SHAPES = [
  ..."context ext error account-ref brand-ref product package format-id creative-asset".split(" "),
  ..."push-notification-config reporting-webhook task-webhook-envelope webhook-activity-record impairment".split(" "),
  ..."a2a-task a2a-task-status-update-event reporting-capabilities delivery-metrics".split(" "),
].map((name) => `core/${name}.json`);
const WEBHOOKS = [
  "media-buy/media-buy-delivery-webhook-result.json",
  "property/property-list-changed-webhook.json",
  "collection/collection-list-changed-webhook.json",
  "content-standards/artifact-webhook-payload.json",
  "brand/revocation-notification.json",
];
const TASK_STATUSES = ["submitted", "working", "input-required", "completed", "failed", "canceled", "rejected"];

for (const version of versions) {
  const release = ours(version);
  const { schemas, manifest } = release;
  const validator = validatorsOf(release);

  test(`${version}: an id says release and path, and no two files share one`, () => {
    const ids = [...schemas].map(([file, schema]) => {
      assert.is(schema.$schema, "http://json-schema.org/draft-07/schema#", file);
      assert.is(schema.$id, `/schemas/${version}/${file}`);
      assert.ok(schema.title && schema.description, file);
      return schema.$id;
    });
    assert.is(new Set(ids).size, ids.length);
  });

  test(`${version}: every reference leads to a file of the same release, and only the root has an id`, () => {
    for (const [file, schema] of schemas) {
      for (const [pointer, object] of objectsIn(schema)) {
        if (pointer !== "" && !pointer.endsWith("/properties")) assert.is(object.$id, undefined, file + pointer);
        if (typeof object.$ref !== "string") continue;
        assert.ok(object.$ref.startsWith(`/schemas/${version}/`), `${file}${pointer}: ${object.$ref}`);
        assert.ok(schemas.has(object.$ref.slice(`/schemas/${version}/`.length)), `${file}${pointer}: ${object.$ref}`);
      }
    }
  });

  test(`${version}: objects with properties say whether they are open, and require only what they declare`, () => {
    for (const [file, schema] of schemas) {
      for (const [pointer, object] of objectsIn(schema)) {
        if (object.type !== "object" || object.properties === undefined || pointer.endsWith("/properties")) continue;
        assert.ok("additionalProperties" in object || object.allOf || object.oneOf, `${file}${pointer}`);
        for (const name of object.required ?? []) assert.ok(name in object.properties, `${file}${pointer}: ${name}`);
      }
    }
  });

  test(`${version}: every file has examples, and they are valid`, () => {
    for (const [file, schema] of schemas) {
      assert.ok(Array.isArray(schema.examples) && schema.examples.length > 0, file);
      const validate = validator(file);
      for (const example of schema.examples) {
        assert.ok(validate(example), `${file}: ${JSON.stringify(example)} ${JSON.stringify(validate.errors)}`);
      }
    }
  });

  test(`${version}: an example that loses a required field is refused`, () => {
    let refused = 0;
    for (const [file, schema] of schemas) {
      if (schema.type !== "object") continue;
      const validate = validator(file);
      for (const field of rootRequired(release, schema)) {
        const { [field]: _lost, ...rest } = schema.examples[0];
        assert.not(validate(rest), `${file} without ${field}`);
        refused += 1;
      }
    }
    assert.ok(refused > 150, String(refused));
  });

  test(`${version}: each branch of an answer has a title and an example`, () => {
    for (const tool of Object.values(manifest.tools)) {
      const schema = schemas.get(tool.response_schema);
      if (schema.oneOf === undefined) continue;
      const titles = schema.oneOf.map((branch: Json) => branch.title);
      assert.ok(titles.every((title: unknown) => typeof title === "string"));
      assert.is(new Set(titles).size, titles.length);
      assert.is(schema.examples.length, schema.oneOf.length, tool.response_schema);
    }
  });

  test(`${version}: requests and answers carry context and ext at the top`, () => {
    for (const tool of Object.values(manifest.tools)) {
      for (const file of [tool.request_schema, tool.response_schema, ...tool.async_response_schemas]) {
        const fields = rootProperties(release, schemas.get(file));
        assert.is(fields.context?.$ref, `/schemas/${version}/core/context.json`, file);
        assert.is(fields.ext?.$ref, `/schemas/${version}/core/ext.json`, file);
      }
    }
  });

  test(`${version}: async answers are what their kind promises`, () => {
    for (const file of Object.values(manifest.tools).flatMap((tool) => tool.async_response_schemas)) {
      const schema = schemas.get(file);
      assert.is(schema.additionalProperties, true, file);
      if (file.endsWith("submitted.json")) {
        assert.is(schema.properties.status.const, "submitted");
        assert.equal([...schema.required].sort(), ["status", "task_id"]);
        assert.not(validator(file)({ status: "working", task_id: "t" }));
      } else if (file.endsWith("working.json")) {
        for (const field of ["percentage", "current_step", "total_steps", "step_number"])
          assert.ok(schema.properties[field]);
        assert.not(validator(file)({ percentage: 101 }));
      } else {
        assert.ok(schema.properties.errors && schema.properties.reason.anyOf[0].enum.length > 0, file);
        assert.ok(validator(file)({ reason: "budget_approval" }), "reasons of the platform's own pass");
        assert.not(validator(file)({ reason: 7 }));
      }
    }
  });

  test(`${version}: the shapes that travel outside tools are there`, () => {
    for (const file of [...SHAPES, ...WEBHOOKS]) assert.ok(schemas.has(file), file);
    assert.equal([...schemas.get("enums/task-status.json").enum].sort(), [...TASK_STATUSES].sort());
    const envelope = schemas.get("core/task-webhook-envelope.json");
    assert.equal([...envelope.required].sort(), ["idempotency_key", "status", "task_id", "task_type", "timestamp"]);
    assert.ok("domain" in envelope.properties && "operation_id" in envelope.properties);
    for (const file of WEBHOOKS.slice(1)) assert.ok(schemas.get(file).required.includes("idempotency_key"), file);
    const activity = schemas.get("core/webhook-activity-record.json");
    assert.is(activity.properties.error_message.maxLength, 500);
  });

  test(`${version}: a delivery report has no aggregated_totals`, () => {
    const file = "media-buy/media-buy-delivery-webhook-result.json";
    const example: Json = schemas.get(file).examples[0];
    assert.is(validator(file)(example), true);
    assert.not(validator(file)({ ...example, aggregated_totals: { impressions: 1, spend: 1, media_buy_count: 1 } }));
    assert.not(validator(file)({ ...example, notification_type: "sometimes" }));
  });

  test(`${version}: legacy webhook credentials are of one scheme and long enough`, () => {
    const validate = validator("core/push-notification-config.json");
    const config = (schemes: string[], credentials: string) => ({
      url: "https://b.example/h",
      authentication: { schemes, credentials },
    });
    assert.ok(validate(config(["Bearer"], "x".repeat(32))));
    assert.not(validate(config(["Bearer"], "x".repeat(31))));
    assert.not(validate(config(["Bearer", "HMAC-SHA256"], "x".repeat(32))));
    assert.not(validate(config([], "x".repeat(32))));
  });
}

interface Payload {
  schema: string;
  payload: unknown;
}

test("payloads made for the published 3.0 line are valid in ours, but for tools we do not have", () => {
  const folder = corpus();
  if (folder === undefined) return console.log("\nskipped: no corpus of published payloads");
  const text = readFileSync(`${folder}/payloads/3.0.26.json`, "utf8");
  // The word of the published line becomes ours; it is read off its manifest, never written here.
  const word = /"([a-z]+)_version":/.exec(readFileSync(`${folder}/releases/3.0.26/manifest.json`, "utf8"))?.[1];
  assert.ok(word);
  const renamed = text.replaceAll(`get-${word}-`, "get-agent-").replaceAll(word, "proto");
  const validator = validatorsOf(ours("3.0.0"));
  let valid = 0;
  for (const { schema, payload } of JSON.parse(renamed) as Payload[]) {
    if (!ours("3.0.0").schemas.has(schema)) continue;
    const validate = validator(schema);
    assert.ok(
      validate(payload),
      `${schema} ${JSON.stringify(payload)} ${JSON.stringify(validate.errors?.slice(0, 3))}`,
    );
    valid += 1;
  }
  assert.ok(valid >= 300, String(valid));
});

/** Runs of this many words do not come together twice by chance. */
const TELLING_RUN = 7;

function* runsOfWords(schema: Json): Generator<string> {
  for (const [, object] of objectsIn(schema)) {
    for (const text of [object.description, object.suggestion, object.note]) {
      if (typeof text !== "string") continue;
      const words = text.toLowerCase().split(/\s+/);
      for (let at = 0; at + TELLING_RUN <= words.length; at += 1) yield words.slice(at, at + TELLING_RUN).join(" ");
    }
  }
}

test("our sentences are our own", () => {
  const folder = corpus();
  if (folder === undefined) return console.log("\nskipped: no corpus of published releases");
  const published = readRelease(`${folder}/releases/3.1.19`);
  const theirs = new Set([...published.schemas.values(), published.manifest].flatMap((one) => [...runsOfWords(one)]));
  assert.ok(theirs.size > 10_000);
  for (const version of versions) {
    const release = ours(version);
    for (const one of [...release.schemas.values(), release.manifest, release.manifestSchema]) {
      for (const run of runsOfWords(one)) assert.not(theirs.has(run), `${one.$id ?? "manifest.json"}: ${run}`);
    }
  }
});

test.run();
