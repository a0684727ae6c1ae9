/** Rules about single schema files, each broken. */

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into JSON it wrote itself
type Change = (files: Record<string, any>) => void;

/** Rule, what breaks it, where the finding must point. */
export type BrokenRule = [rule: string, change: Change, file: string, pointer: string];

const manifest = "manifest.json";
const request = "media-buy/place-order-request.json";

export const brokenFiles: BrokenRule[] = [
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
      files[request].properties.lines = { type: "array", contains: {}, maxContains: 3 };
    },
    request,
    "/properties/lines/maxContains",
  ],
];
