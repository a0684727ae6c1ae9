/** What a release must not be, each with the rule that refuses it and the place it must name. */
import { type Any, requestOf } from "../../support/mutate-release.js";
import type { Files } from "../../support/release.js";

export interface Broken {
  change(files: Files, manifest: Any): void;
  rule: string;
  file?: string;
  pointer?: string;
}

const LIST = "account/list-accounts-request.json";
const BUY = "media-buy/create-media-buy-request.json";

const withoutKey = (files: Files): Any => {
  const request = requestOf(files, "create_media_buy");
  delete request.properties.idempotency_key;
  request.required = request.required.filter((name: string) => name !== "idempotency_key");
  return request;
};

/** Doubles a key in the text of a file. */
const doubled = (files: Files, file: string, key: string): void => {
  files[file] = JSON.stringify(files[file]).replace(`"${key}":`, `"${key}":0,"${key}":`);
};

const refer = (files: Files, ref: string): void => {
  requestOf(files, "list_accounts").properties.mutant = { $ref: ref };
};

const REF = "/properties/mutant/$ref";

export const brokenJson: Record<string, Broken> = {
  "manifest is not JSON": { change: (files) => void Object.assign(files, { "manifest.json": "{," }), rule: "json" },
  "manifest is a list": {
    change: (files) => void Object.assign(files, { "manifest.json": [] }),
    rule: "manifest-schema",
  },
  "manifest names a key twice": { change: (files) => doubled(files, "manifest.json", "mutating"), rule: "json" },
  "manifest names a tool twice": { change: (files) => doubled(files, "manifest.json", "list_accounts"), rule: "json" },
  "meta-schema is not JSON": {
    change: (files) => void Object.assign(files, { "manifest.schema.json": "{" }),
    rule: "json",
    file: "manifest.schema.json",
  },
  "meta-schema does not compile": {
    change: (files) => void Object.assign(files["manifest.schema.json"] as Any, { type: "objekt" }),
    rule: "manifest-schema-unusable",
    file: "manifest.schema.json",
  },
  "schema is not JSON": {
    change: (files) => void Object.assign(files, { [LIST]: '{"a": }' }),
    rule: "json",
    file: LIST,
  },
  "shared schema is not JSON": {
    change: (files) => void Object.assign(files, { "core/context.json": "" }),
    rule: "json",
    file: "core/context.json",
  },
  "schema names a key twice": { change: (files) => doubled(files, LIST, "title"), rule: "json", file: LIST },
  "schema is a list": {
    change: (files) => void Object.assign(files, { "core/context.json": [] }),
    rule: "schema-type",
    file: "core/context.json",
  },
};

export const brokenReferences: Record<string, Broken> = {
  "request is missing": {
    change: (files) => void delete files[LIST],
    rule: "schema-missing",
    pointer: "/tools/list_accounts/request_schema",
  },
  "async response is missing": {
    change: (files, { tools }) => void delete files[tools.create_media_buy.async_response_schemas[0]],
    rule: "schema-missing",
  },
  "shared schema is missing": {
    change: (files) => void delete files["core/context.json"],
    rule: "schema-missing",
    file: LIST,
    pointer: "/properties/context/$ref",
  },
  "path leads out": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { request_schema: "../../etc/hosts.json" }),
    rule: "schema-missing",
    pointer: "/tools/list_accounts/request_schema",
  },
  "path is a folder": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { request_schema: "core" }),
    rule: "schema-missing",
  },
  "path is empty": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { request_schema: "" }),
    rule: "schema-missing",
  },
  "reference leads out": {
    change: (files) => refer(files, "../../../../etc/passwd"),
    rule: "schema-missing",
    file: LIST,
    pointer: REF,
  },
  "reference to nothing": {
    change: (files) => refer(files, "#/$defs/none"),
    rule: "ref-dangling",
    file: LIST,
    pointer: REF,
  },
  "reference to what every object has": {
    change: (files) => refer(files, "#/constructor"),
    rule: "ref-dangling",
    file: LIST,
    pointer: REF,
  },
  "reference to the length of a list": {
    change: (files) => refer(files, "#/required/length"),
    rule: "ref-dangling",
    file: LIST,
    pointer: REF,
  },
  "reference to a text": { change: (files) => refer(files, "#/title"), rule: "ref-dangling", file: LIST, pointer: REF },
};

const renamed =
  (name: string) =>
  (_: Files, { tools }: Any): void => {
    tools[name] = { ...tools.list_accounts, specialisms: [] };
  };

export const brokenManifests: Record<string, Broken> = {
  "undeclared tool field": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { summary: "x" }),
    rule: "manifest-unknown-field",
    pointer: "/tools/list_accounts/summary",
  },
  "undeclared tool field, no meta-schema": {
    change: (files, { tools }) => {
      tools.list_accounts.summary = "x";
      delete files["manifest.schema.json"];
    },
    rule: "manifest-unknown-field",
    pointer: "/tools/list_accounts/summary",
  },
  "undeclared field": {
    change: (_, manifest) => void Object.assign(manifest, { extra: 1 }),
    rule: "manifest-unknown-field",
    pointer: "/extra",
  },
  "undeclared field of a code": {
    change: (_, { error_codes }) => void Object.assign(error_codes.ACCOUNT_NOT_FOUND, { http: 1 }),
    rule: "manifest-unknown-field",
    pointer: "/error_codes/ACCOUNT_NOT_FOUND/http",
  },
  "field called __proto__": {
    change: (files, manifest) =>
      void Object.assign(files, { "manifest.json": JSON.stringify(manifest).replace("{", '{"__proto__":{"a":1},') }),
    rule: "manifest-unknown-field",
    pointer: "/__proto__",
  },
  "two words": {
    change: (_, manifest) => void Object.assign(manifest, { other_version: "1.0.0" }),
    rule: "protocol-word",
  },
  "unknown protocol": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { protocol: "sales" }),
    rule: "manifest-schema",
    pointer: "/tools/list_accounts/protocol",
  },
  "unknown protocol, no meta-schema": {
    change: (files, { tools }) => {
      tools.list_accounts.protocol = "sales";
      delete files["manifest.schema.json"];
    },
    rule: "manifest-schema",
    pointer: "/tools/list_accounts/protocol",
  },
  "unknown recovery": {
    change: (_, { error_codes }) => void Object.assign(error_codes.ACCOUNT_NOT_FOUND, { recovery: "maybe" }),
    rule: "manifest-schema",
    pointer: "/error_codes/ACCOUNT_NOT_FOUND/recovery",
  },
  "version that is a path": {
    change: (_, manifest) => void Object.assign(manifest, { proto_version: "../../evil" }),
    rule: "manifest-schema",
    pointer: "/proto_version",
  },
  "no tool": {
    change: (_, manifest) => void Object.assign(manifest, { tools: {} }),
    rule: "manifest-schema",
    pointer: "/tools",
  },
  "tool is null": {
    change: (_, { tools }) => void Object.assign(tools, { list_accounts: null }),
    rule: "manifest-schema",
    pointer: "/tools/list_accounts",
  },
  "name in camel case": { change: renamed("listThem"), rule: "manifest-schema" },
  "neither key nor marker": { change: withoutKey, rule: "idempotency-key", file: BUY },
  "entry point is no tool": {
    change: (_, { specialisms }) => {
      specialisms.brand_rights.entry_point_tools = ["no_such"];
      specialisms.brand_rights.exercised_tools.push("no_such");
    },
    rule: "entry-point-tool",
    pointer: "/specialisms/brand_rights/entry_point_tools/0",
  },
  "entry point is not exercised": {
    change: (_, { specialisms }) => void specialisms.brand_rights.entry_point_tools.push("list_accounts"),
    rule: "entry-point-exercised",
    pointer: "/specialisms/brand_rights/entry_point_tools/1",
  },
  "specialisms of a tool do not agree": {
    change: (_, { tools }) => void Object.assign(tools.list_accounts, { specialisms: ["brand_rights"] }),
    rule: "specialism-inverse",
    pointer: "/tools/list_accounts/specialisms",
  },
  "async response without a status": {
    change: (files, { tools }) => {
      files["media-buy/create-media-buy-queued.json"] = {};
      tools.create_media_buy.async_response_schemas.push("media-buy/create-media-buy-queued.json");
    },
    rule: "async-kind",
  },
};

/** The marker in spellings that count. */
export const markers = [
  "NATURALLY IDEMPOTENT",
  "Naturally Idempotent.",
  "Read-only; naturally idempotent: twice is once.",
];

export const withMarker =
  (marker: string) =>
  (files: Files): void => {
    withoutKey(files).description = marker;
  };
