/** Rules about single schema files, each broken. */

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into JSON it wrote itself
type Change = (files: Record<string, any>) => void;

/** Rule, what breaks it, where the finding must point. */
export type BrokenRule = [rule: string, change: Change, file: string, pointer: string];

const manifest = "manifest.json";
const request = "media-buy/place-order-request.json";

/** The text of a file with a value that `JSON.stringify` cannot write. */
const withText = (file: object, text: string): string => JSON.stringify(file).replace('"PLACE"', text);

export const brokenFiles: BrokenRule[] = [
  [
    "json",
    (files) => {
      files[request].properties["a/b"] = { type: "number", maximum: "PLACE" };
      files[request] = withText(files[request], "1e400");
    },
    request,
    "/properties/a~1b/maximum",
  ],
  [
    "json",
    (files) => {
      files[request].properties.note = { enum: ["a", "PLACE"] };
      files[request] = withText(files[request], '"\\ud800"');
    },
    request,
    "/properties/note/enum/1",
  ],
  [
    "json",
    (files) => {
      files[request].properties.PLACE = { type: "string" };
      files[request] = withText(files[request], '"\\udc00"');
    },
    request,
    "/properties",
  ],
  [
    "file-name",
    (files) => {
      files["media-buy/place#order.json"] = files[request];
      files[manifest].tools.place_order.request_schema = "media-buy/place#order.json";
    },
    "media-buy/place#order.json",
    "",
  ],
  [
    "schema-invalid",
    (files) => {
      files[request].properties.note = { nullable: true, enum: ["a", null] };
    },
    request,
    "/properties/note",
  ],
  [
    "schema-draft",
    (files) => {
      files[request].$schema = "https://json-schema.org/draft/2020-12/schema";
      files[request].properties.lines = { type: "array", contains: { type: "string" }, unevaluatedItems: false };
    },
    request,
    "/properties/lines/unevaluatedItems",
  ],
  [
    "task-status",
    (files) => {
      const known = ["submitted", "working", "input-required", "completed", "failed", "canceled", "rejected"];
      files["media-buy/list-orders-response.json"].properties.status = { enum: [...known, "on-hold"] };
    },
    "media-buy/list-orders-response.json",
    "",
  ],
  [
    "recovery-class",
    (files) => {
      files["manifest.schema.json"] = { type: "object" };
      files["manifest.json"].error_codes.BUSY.recovery = "negotiable";
    },
    "manifest.json",
    "/error_codes/BUSY/recovery",
  ],
  [
    "later-line",
    (files) => {
      files["manifest.json"].proto_version = "3.4.0-beta.0";
    },
    "manifest.json",
    "/proto_version",
  ],
];
