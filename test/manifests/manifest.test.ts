/** The manifests of our own releases: docs/protocol/manifest.md. */
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { corpus, type ManifestFile, ours, readRelease, rootProperties, versions } from "./read-release.js";

const SURFACES = [
  "account",
  "brand",
  "collection",
  "compliance",
  "content-standards",
  "creative",
  "governance",
  "media-buy",
  "property",
  "protocol",
  "signals",
  "sponsored-intelligence",
];

const NAMED_TOOLS = [
  ...["create_media_buy", "update_media_buy", "get_media_buys", "get_media_buy_delivery", "get_agent_capabilities"],
  ...["get_products", "list_creative_formats", "sync_creatives", "list_creatives", "build_creative"],
  ...["get_signals", "activate_signal", "sync_accounts", "list_accounts", "check_governance", "sync_plans"],
  ...["create", "get", "update", "delete"].flatMap((verb) => [`${verb}_property_list`, `${verb}_collection_list`]),
  ...["list_property_lists", "list_collection_lists", "create_content_standards", "calibrate_content"],
  ...["get_brand_identity", "get_rights", "acquire_rights", "si_initiate_session", "si_send_message"],
  "comply_test_controller",
];

const READ_VERBS = /^(get|list|check|validate|preview|search)_/;
const KEY = "^[A-Za-z0-9_.:-]{16,255}$";

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => value as Fields;

/** The tables of docs/protocol/manifest.md: where each object is in a manifest, and which of its fields must be there. */
const TABLES: { at: (manifest: ManifestFile) => Fields; required: string[]; optional: string[] }[] = [
  {
    at: fields,
    required: ["proto_version", "generated_at", "tools", "error_codes", "error_code_policy", "specialisms"],
    optional: ["$schema"],
  },
  {
    at: (manifest) => fields(manifest.tools.get_products),
    required: ["protocol", "mutating", "request_schema", "response_schema", "async_response_schemas"],
    optional: ["specialisms", "added_in", "deprecated_in"],
  },
  {
    at: (manifest) => fields(manifest.error_codes.CONFLICT),
    required: ["recovery", "description", "suggestion"],
    optional: ["added_in"],
  },
  {
    at: (manifest) => fields(manifest.error_code_policy),
    required: ["default_unknown_recovery", "note"],
    optional: [],
  },
  {
    at: (manifest) => fields(manifest.specialisms.audience_sync),
    required: ["protocol", "entry_point_tools", "exercised_tools"],
    optional: ["title"],
  },
];

/** Edits that break a rule of the tables other than presence. */
const WRONG: ((manifest: ManifestFile) => void)[] = [
  (manifest) => {
    fields(manifest.tools.get_products).protocol = "media_buy";
  },
  (manifest) => {
    fields(manifest.error_codes.CONFLICT).recovery = "fatal";
  },
  (manifest) => {
    manifest.proto_version = "3.1";
  },
  (manifest) => {
    manifest.generated_at = "yesterday";
  },
  (manifest) => {
    manifest.tools = {};
  },
  (manifest) => {
    manifest.error_codes = {};
  },
];

const entries = (manifest: ManifestFile) => Object.entries(manifest.tools);

const manifestValidator = (version: (typeof versions)[number]) => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(ours(version).manifestSchema);
};

for (const version of versions) {
  const { manifest, schemas, manifestSchema } = ours(version);

  test(`${version}: the manifest keeps the schema beside it, and that schema knows its release`, () => {
    const validate = manifestValidator(version);
    assert.ok(validate(manifest), JSON.stringify(validate.errors));
    assert.ok(manifestSchema.examples.length > 0 && manifestSchema.examples.every((one: unknown) => validate(one)));
    assert.is(manifestSchema.$id, `/schemas/${version}/manifest.schema.json`);
    assert.is(manifest.$schema, manifestSchema.$id);
    assert.is(manifest.proto_version, version);
    assert.is(new Date(manifest.generated_at).toISOString(), manifest.generated_at);
  });

  test(`${version}: the manifest schema refuses what no table of manifests lists, and asks for what it requires`, () => {
    const validate = manifestValidator(version);
    const holds = (edit: (copy: ManifestFile) => void): boolean => {
      const copy = structuredClone(manifest);
      edit(copy);
      return validate(copy);
    };
    for (const { at, required, optional } of TABLES) {
      const added = holds((copy) => {
        at(copy).undeclared = true;
      });
      assert.not(added, required[0]);
      for (const field of required)
        assert.not(
          holds((copy) => delete at(copy)[field]),
          field,
        );
      for (const field of optional)
        assert.ok(
          holds((copy) => delete at(copy)[field]),
          field,
        );
    }
    for (const edit of WRONG) assert.not(holds(edit));
  });

  test(`${version}: there are at least 36 tools over the twelve surfaces, and every tool that others lean on`, () => {
    assert.ok(entries(manifest).length >= 36);
    assert.equal([...new Set(entries(manifest).map(([, tool]) => tool.protocol))].sort(), SURFACES);
    for (const name of NAMED_TOOLS) assert.ok(Object.hasOwn(manifest.tools, name), name);
  });

  test(`${version}: a tool's files are named after it and exist`, () => {
    for (const [name, tool] of entries(manifest)) {
      const kebab = name.replaceAll("_", "-");
      assert.match(tool.request_schema, new RegExp(`^[a-z-]+/${kebab}-request\\.json$`));
      assert.is(tool.response_schema, tool.request_schema.replace("-request.", "-response."));
      assert.is(tool.request_schema.split("/")[0], tool.protocol);
      for (const file of [tool.request_schema, tool.response_schema]) assert.ok(schemas.has(file), file);
      for (const file of tool.async_response_schemas) {
        assert.match(file, new RegExp(`/${kebab}-async-response-(submitted|working|input-required)\\.json$`));
        assert.ok(schemas.has(file), file);
      }
    }
    const listed = entries(manifest).flatMap(([, tool]) => tool.async_response_schemas);
    const present = [...schemas.keys()].filter((file) => file.includes("-async-response-"));
    assert.equal(listed.sort(), present.sort());
  });

  test(`${version}: async tools have variants of their own, and not all have all three`, () => {
    const counts = entries(manifest).map(([, tool]) => tool.async_response_schemas.length);
    assert.ok(counts.includes(3) && counts.includes(2) && counts.includes(0));
    assert.ok(counts.filter((count) => count > 0).length >= 7);
  });

  test(`${version}: a mutating tool requires an idempotency key or says why it needs none`, () => {
    for (const [name, tool] of entries(manifest)) {
      const request = schemas.get(tool.request_schema);
      const key = request.properties.idempotency_key;
      if (!tool.mutating) {
        assert.is(key, undefined, name);
      } else if (key === undefined) {
        assert.match(request.description, "naturally idempotent");
      } else {
        assert.is(key.pattern, KEY, name);
        assert.ok(request.required.includes("idempotency_key"), name);
      }
    }
  });

  test(`${version}: tools with a read-only verb do not mutate`, () => {
    for (const [name, tool] of entries(manifest)) if (READ_VERBS.test(name)) assert.not(tool.mutating, name);
  });

  test(`${version}: error codes, their enum and the policy agree`, () => {
    const codes = Object.keys(manifest.error_codes);
    assert.equal([...schemas.get("enums/error-code.json").enum].sort(), [...codes].sort());
    assert.is(manifest.error_code_policy.default_unknown_recovery, "transient");
    for (const [code, entry] of Object.entries(manifest.error_codes)) {
      assert.match(code, /^[A-Z][A-Z0-9_]*$/);
      assert.ok(entry.description.length > 10 && entry.suggestion.length > 10, code);
    }
  });

  test(`${version}: specialisms start at tools, exercise them, and tools list exactly those`, () => {
    assert.ok(Object.keys(manifest.specialisms).length >= 10);
    const harness = new Set<string>();
    for (const [id, specialism] of Object.entries(manifest.specialisms)) {
      assert.ok(specialism.entry_point_tools.length > 0, id);
      for (const name of specialism.entry_point_tools) {
        assert.ok(Object.hasOwn(manifest.tools, name), `${id}: ${name}`);
        assert.ok(specialism.exercised_tools.includes(name), `${id}: ${name}`);
      }
      for (const name of specialism.exercised_tools) if (!Object.hasOwn(manifest.tools, name)) harness.add(name);
    }
    assert.ok(harness.size > 0, "a step of the harness among the exercised names");
    for (const [name, tool] of entries(manifest)) {
      const inverse = Object.keys(manifest.specialisms).filter((id) =>
        manifest.specialisms[id]?.exercised_tools.includes(name),
      );
      assert.equal(tool.specialisms, inverse.length === 0 ? undefined : inverse.sort(), name);
    }
    const ids = schemas.get("enums/specialism.json").enum;
    assert.equal(
      [...ids].sort(),
      Object.keys(manifest.specialisms)
        .map((id) => id.replaceAll("_", "-"))
        .sort(),
    );
  });

  test(`${version}: names are sorted, so that a change reads as one`, () => {
    for (const names of [manifest.tools, manifest.error_codes, manifest.specialisms].map(Object.keys)) {
      assert.equal(names, [...names].sort());
    }
  });
}

test("every standard code of the published 3.0 line is there, with its recovery", () => {
  const folder = corpus();
  if (folder === undefined) return console.log("\nskipped: no corpus of published releases");
  const published = readRelease(`${folder}/releases/3.0.26`).manifest;
  assert.is(Object.keys(published.error_codes).length, 45);
  const recoveries = (codes: ManifestFile["error_codes"]) =>
    Object.fromEntries(Object.entries(codes).map(([code, entry]) => [code, entry.recovery]));
  assert.equal(recoveries(ours("3.0.0").manifest.error_codes), recoveries(published.error_codes));
  for (const [code, entry] of Object.entries(published.error_codes)) {
    for (const version of versions) {
      const own = ours(version).manifest.error_codes[code];
      assert.is(own?.recovery, entry.recovery, code);
      assert.is.not(own?.description, entry.description);
      assert.is.not(own?.suggestion, entry.suggestion);
    }
  }
});

test("tools mutate as their namesakes in published releases do", () => {
  const folder = corpus();
  if (folder === undefined) return console.log("\nskipped: no corpus of published releases");
  for (const [version, theirs] of [
    ["3.0.0", "3.0.26"],
    ["3.1.0", "3.1.19"],
  ] as const) {
    const published = readRelease(`${folder}/releases/${theirs}`).manifest;
    for (const [name, tool] of entries(ours(version).manifest)) {
      const namesake = published.tools[name];
      if (namesake !== undefined) assert.is(tool.mutating, namesake.mutating, name);
    }
  }
});

test("a tool that may answer later lets the buyer say where to", () => {
  for (const version of versions) {
    for (const [name, tool] of entries(ours(version).manifest)) {
      if (tool.async_response_schemas.length === 0) continue;
      const { properties } = ours(version).schemas.get(tool.request_schema);
      const ref = properties.push_notification_config?.$ref;
      assert.is(ref, `/schemas/${version}/core/push-notification-config.json`, name);
    }
  }
});

test("requests of the media-buy surface carry what webhooks and reports need", () => {
  for (const version of versions) {
    const release = ours(version);
    const fieldsOf = (file: string) => Object.keys(rootProperties(release, release.schemas.get(file)));
    for (const file of ["create-media-buy", "update-media-buy"]) {
      for (const field of ["push_notification_config", "reporting_webhook", "context", "ext"]) {
        assert.ok(fieldsOf(`media-buy/${file}-request.json`).includes(field), `${file} ${field}`);
      }
    }
    const asked = fieldsOf("media-buy/get-media-buys-request.json");
    assert.ok(asked.includes("include_webhook_activity") && asked.includes("webhook_activity_limit"));
    assert.ok(fieldsOf("media-buy/get-media-buy-delivery-request.json").includes("time_granularity"));
    const row = release.schemas.get("media-buy/get-media-buys-response.json").properties.media_buys.items.properties;
    assert.ok("webhook_activity" in row && "impairments" in row);
    assert.ok("windowed_pull_granularities" in release.schemas.get("core/reporting-capabilities.json").properties);
    const declared = release.schemas.get("protocol/get-agent-capabilities-response.json").properties;
    assert.ok("windowed_pull_granularities" in declared.reporting_capabilities.properties);
    assert.is(declared.webhooks.properties.coalescence_windows.items.properties.max_seconds.maximum, 300);
  }
});

test.run();
