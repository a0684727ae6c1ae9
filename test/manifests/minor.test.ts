/** 3.1.0 differs from 3.0.0 as a real minor release does; what a diff of releases will be tried on. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ours, type ReleaseFiles, rootProperties, rootRequired, validatorsOf } from "./read-release.js";

const before = ours("3.0.0");
const after = ours("3.1.0");
const toolsOf = (release: ReleaseFiles) => Object.keys(release.manifest.tools);
const gone = (a: readonly string[], b: readonly string[]): string[] => a.filter((one) => !b.includes(one));

test("tools are added, none is taken away, and added_in says so", () => {
  assert.equal(gone(toolsOf(before), toolsOf(after)), []);
  assert.equal(gone(toolsOf(after), toolsOf(before)), ["get_task_status", "list_tasks"]);
  for (const [name, tool] of Object.entries(after.manifest.tools)) {
    assert.is(tool.added_in, Object.hasOwn(before.manifest.tools, name) ? undefined : "3.1.0", name);
  }
  for (const name of ["get_task_status", "list_tasks"]) assert.is(after.manifest.tools[name]?.protocol, "protocol");
});

test("codes are added, none is taken away or reclassified", () => {
  const codes = (release: ReleaseFiles) => Object.keys(release.manifest.error_codes);
  assert.equal(gone(codes(before), codes(after)), []);
  assert.ok(gone(codes(after), codes(before)).length >= 5);
  for (const [code, entry] of Object.entries(after.manifest.error_codes)) {
    const old = before.manifest.error_codes[code];
    assert.is(entry.added_in, old === undefined ? "3.1.0" : undefined, code);
    if (old !== undefined) assert.is(entry.recovery, old.recovery, code);
  }
});

test("one tool is deprecated", () => {
  const deprecated = Object.entries(after.manifest.tools).filter(([, tool]) => tool.deprecated_in !== undefined);
  assert.equal(
    deprecated.map(([name, tool]) => [name, tool.deprecated_in]),
    [["get_media_buy_artifacts", "3.1.0"]],
  );
  assert.not(Object.values(before.manifest.tools).some((tool) => tool.deprecated_in !== undefined));
});

test("one request has a new required field", () => {
  const news = toolsOf(before).flatMap((name) => {
    const [old, now] = [before, after].map((release) => {
      const tool = release.manifest.tools[name]!;
      return rootRequired(release, release.schemas.get(tool.request_schema));
    }) as [string[], string[]];
    return gone(now, old).map((field) => `${name}.${field}`);
  });
  assert.equal(news, ["comply_test_controller.account"]);
});

test("one enum is narrowed, others are widened", () => {
  const narrowed: string[] = [];
  const widened: string[] = [];
  for (const [file, schema] of before.schemas) {
    if (!file.startsWith("enums/")) continue;
    const now = after.schemas.get(file)?.enum ?? [];
    if (gone(schema.enum, now).length > 0) narrowed.push(file);
    if (gone(now, schema.enum).length > 0) widened.push(file);
  }
  assert.equal(narrowed, ["enums/available-metric.json"]);
  assert.equal(widened, ["enums/audience-status.json", "enums/error-code.json"]);
});

test("the envelope arrives: status is required in every answer and always the task's", () => {
  assert.not(before.schemas.has("core/protocol-envelope.json"));
  for (const tool of Object.values(after.manifest.tools)) {
    const schema = after.schemas.get(tool.response_schema);
    assert.ok(rootRequired(after, schema).includes("status"), tool.response_schema);
    assert.is(schema.allOf[0].$ref, "/schemas/3.1.0/core/protocol-envelope.json");
    for (const branch of schema.oneOf ?? [schema]) {
      const own = branch.properties?.status;
      if (own === undefined) continue;
      assert.ok(own.const === "submitted" || own.$ref?.endsWith("/enums/task-status.json"), tool.response_schema);
    }
  }
});

test("answers of 3.0.0 that carry no task status are refused by 3.1.0", () => {
  const validator = validatorsOf(after);
  let refused = 0;
  for (const [name, tool] of Object.entries(before.manifest.tools)) {
    const [example] = before.schemas.get(tool.response_schema).examples;
    if (after.schemas.get(tool.response_schema).oneOf === undefined && "status" in example) continue;
    assert.not(validator(tool.response_schema)(example), name);
    refused += 1;
  }
  assert.ok(refused > 40, String(refused));
});

test("states of the domain have names of their own", () => {
  const renamed = {
    "media-buy/create-media-buy-response.json": "media_buy_status",
    "media-buy/update-media-buy-response.json": "media_buy_status",
    "brand/acquire-rights-response.json": "rights_status",
    "governance/check-governance-response.json": "verdict",
    "governance/report-plan-outcome-response.json": "outcome_state",
  };
  for (const [file, field] of Object.entries(renamed)) {
    assert.not(field in rootProperties(before, before.schemas.get(file)), file);
    assert.ok("status" in rootProperties(before, before.schemas.get(file)), file);
    assert.ok(field in rootProperties(after, after.schemas.get(file)), file);
  }
});

test("both stay one word: proto in fields, no other protocol's name anywhere", () => {
  for (const release of [before, after]) {
    assert.equal(
      Object.keys(release.manifest).filter((key) => key.endsWith("_version")),
      ["proto_version"],
    );
    const fields = rootProperties(release, release.schemas.get("media-buy/get-products-request.json"));
    assert.ok("proto_major_version" in fields);
  }
});

test.run();
