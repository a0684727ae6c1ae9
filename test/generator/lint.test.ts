/** Each rule, broken once: file, pointer, rule and remedy must say so. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Finding, lintRelease, rules } from "../../generator/index.js";
import { changedRelease } from "../support/release.js";
import { type BrokenRule, brokenFiles } from "./broken-files.js";

const manifest = "manifest.json";
const request = "media-buy/place-order-request.json";

const own = {
  type: "object",
  required: ["proto_version"],
  additionalProperties: true,
};

/** Rule, what breaks it, where the finding must point. */
const broken: BrokenRule[] = [
  [
    "json",
    (files) => {
      files["core/error.json"] = "{ not json";
    },
    "core/error.json",
    "",
  ],
  [
    "json",
    (files) => {
      files[manifest] = '{"proto_version":"1.0.0","tools":{"a":1,"a":2}}';
    },
    manifest,
    "",
  ],
  ["protocol-word", (files) => void delete files[manifest].proto_version, manifest, ""],
  [
    "protocol-word",
    (files) => {
      files[manifest].other_version = "1.0.0";
    },
    manifest,
    "",
  ],
  [
    "manifest-schema",
    (files) => {
      files[manifest].proto_version = "one";
    },
    manifest,
    "/proto_version",
  ],
  [
    "manifest-schema",
    (files) => {
      files[manifest].tools.place_order.protocol = "bazaar";
    },
    manifest,
    "/tools/place_order/protocol",
  ],
  [
    "manifest-schema",
    (files) => {
      files[manifest].error_codes.BUSY.recovery = "later";
    },
    manifest,
    "/error_codes/BUSY/recovery",
  ],
  [
    "manifest-schema",
    (files) => {
      files[manifest].tools.__proto = files[manifest].tools.list_orders;
    },
    manifest,
    "/tools/__proto",
  ],
  [
    "manifest-unknown-field",
    (files) => {
      files[manifest].tools.list_orders.colour = "red";
    },
    manifest,
    "/tools/list_orders/colour",
  ],
  [
    "manifest-unknown-field",
    (files) => {
      files[manifest].extra = 1;
    },
    manifest,
    "/extra",
  ],
  [
    "manifest-schema-unusable",
    (files) => {
      files["manifest.schema.json"] = { type: "no such type" };
    },
    "manifest.schema.json",
    "",
  ],
  [
    "schema-missing",
    (files) => {
      files[request] = undefined;
    },
    manifest,
    "/tools/place_order/request_schema",
  ],
  [
    "schema-missing",
    (files) => {
      files["core/line.json"] = undefined;
    },
    request,
    "/properties/lines/items/$ref",
  ],
  [
    "ref-dangling",
    (files) => void delete files["core/error.json"].$defs,
    "core/error.json",
    "/properties/issues/items/$ref",
  ],
  [
    "schema-type",
    (files) => {
      files["core/line.json"] = "[]";
    },
    "core/line.json",
    "",
  ],
  ["idempotency-key", (files) => void delete files[request].properties.idempotency_key, request, ""],
  [
    "schema-invalid",
    (files) => {
      files["core/line.json"].properties.product_id = { type: "string", pattern: "(" };
    },
    "core/line.json",
    "/properties/product_id/pattern",
  ],
  [
    "ref-loop",
    (files) => {
      files["core/line.json"] = { $ref: "#" };
    },
    "core/line.json",
    "/$ref",
  ],
  [
    "ref-loop",
    (files) => {
      files["core/line.json"].dependencies = { parts: { $ref: "#" } };
    },
    "core/line.json",
    "/dependencies/parts/$ref",
  ],
  [
    "idempotency-key",
    (files) => {
      files["session/end-session-request.json"].description = "Ends it.";
    },
    "session/end-session-request.json",
    "",
  ],
  [
    "async-kind",
    (files) => void files[manifest].tools.place_order.async_response_schemas.push(request),
    manifest,
    "/tools/place_order/async_response_schemas/2",
  ],
  [
    "entry-point-tool",
    (files) => void files[manifest].specialisms.selling.entry_point_tools.push("expect_webhook"),
    manifest,
    "/specialisms/selling/entry_point_tools/1",
  ],
  [
    "entry-point-exercised",
    (files) => void files[manifest].specialisms.browsing.entry_point_tools.push("end_session"),
    manifest,
    "/specialisms/browsing/entry_point_tools/1",
  ],
  [
    "specialism-inverse",
    (files) => {
      files[manifest].tools.end_session.specialisms = ["selling"];
    },
    manifest,
    "/tools/end_session/specialisms",
  ],
  [
    "specialism-id",
    (files) => {
      files[manifest].specialisms["a-b"] = { protocol: "media-buy", entry_point_tools: [], exercised_tools: [] };
      files[manifest].specialisms.a_b = { protocol: "media-buy", entry_point_tools: [], exercised_tools: [] };
    },
    manifest,
    "/specialisms/a_b",
  ],
  ["exercised-tool", () => {}, manifest, "/specialisms/selling/exercised_tools/2"],
  [
    "specialism-entry",
    (files) => {
      files[manifest].specialisms.browsing.entry_point_tools = [];
    },
    manifest,
    "/specialisms/browsing/entry_point_tools",
  ],
  [
    "read-verb",
    (files) => {
      files[manifest].tools.list_orders.mutating = true;
      files["media-buy/list-orders-request.json"].description = "NATURALLY IDEMPOTENT";
    },
    manifest,
    "/tools/list_orders/mutating",
  ],
  ...brokenFiles,
  [
    "duplicate-id",
    (files) => {
      files["core/zz.json"] = files["core/line.json"];
    },
    "core/zz.json",
    "/$id",
  ],
];

for (const [rule, change, file, pointer] of broken) {
  test(`${rule} is found at ${file}#${pointer}`, async () => {
    const { findings } = await lintRelease(changedRelease(change));
    const level = rules.find(({ id }) => id === rule)?.level;
    const found = findings.find((one: Finding) => one.rule === rule && one.file === file && one.pointer === pointer);
    assert.ok(found, `not found among ${JSON.stringify(findings, null, 1)}`);
    assert.is(found?.level, level);
    assert.ok(found && found.message.length > 0 && found.remedy.length > 0);
  });
}

test("every rule of the table is broken above", () => {
  const tested = new Set(broken.map(([rule]) => rule));
  assert.equal(
    rules.map(({ id }) => id).filter((id) => !tested.has(id)),
    [],
  );
});

test("a release without faults has none, but for its harness step", async () => {
  const { findings } = await lintRelease(changedRelease(() => {}));
  assert.equal(
    findings.map(({ rule }) => rule),
    ["exercised-tool"],
  );
});

test("the release's own schema rules on fields that ours does not know", async () => {
  const declared = changedRelease((files) => {
    files[manifest].tools.list_orders.colour = "red";
    files["manifest.schema.json"] = own;
  });
  assert.equal(
    (await lintRelease(declared)).findings.filter(({ level }) => level === "error"),
    [],
  );
});

test("the marker counts in any case", async () => {
  const shouted = changedRelease((files) => {
    files["session/end-session-request.json"].description = "Ends. nAtUrAlLy IDEMPOTENT.";
  });
  assert.equal(
    (await lintRelease(shouted)).findings.filter(({ level }) => level === "error"),
    [],
  );
});

test.run();
