/** What MCP lists of a seller, on every published release: small enough for a model, and enough for it to call. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { textsFor } from "../../generator/diff/texts.js";
import { isJsonObject, type JsonObject, type Release } from "../../runtime/contract/index.js";
import type { AnswererDependencies } from "../../runtime/transport/answerer.js";
import { toolListing } from "../../runtime/transport/mcp/listing/listing.js";
import { createValidator } from "../../runtime/validate/index.js";
import { cellsOf } from "../support/cells.js";
import { publishedReleases } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";
import { wholeReleaseIn } from "../support/whole-release.js";

/** Bytes a model is given: of a tool on average, and of all. */
const MOST = { tool: 1.25 * 1024, all: 24 * 1024 };

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The tools of a seller that claims `sales_guaranteed`, and those every seller has. */
function salesTools({ specialisms, tools }: Release): string[] {
  const { entryPoints, exercised } = specialisms.sales_guaranteed!;
  const own = ["get_task_status", "list_tasks", ...entryPoints, ...exercised];
  return [...new Set(own)].filter((name) => Object.hasOwn(tools, name));
}

async function listingOf(release: Release, names: readonly string[], listing?: AnswererDependencies["listing"]) {
  const tools = names.map((name) => ({ name, tool: release.tools[name]! }));
  const { version } = release;
  const parts = { tools, version, documents: await release.schemas(), listing } as unknown as AnswererDependencies;
  return toolListing(parts) as unknown as Listed[];
}

/** The least that a listed schema allows, as a model that reads nothing else would fill it. */
function least(schema: JsonObject): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object": {
      const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
      const required = (schema.required ?? []) as string[];
      return Object.fromEntries(required.map((name) => [name, least(properties[name]!)]));
    }
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => least(schema.items as JsonObject));
    case "integer":
    case "number":
      return schema.minimum ?? Number(schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default: {
      const asked = { pattern: new Set<string>(), format: new Set<string>() };
      for (const [name, wanted] of Object.entries(asked)) if (schema[name]) wanted.add(schema[name] as string);
      const { pattern: patterns, format: formats } = asked;
      return textsFor({
        patterns,
        formats,
        min: Number(schema.minLength ?? 0),
        max: Number(schema.maxLength ?? 1e4),
      })[0];
    }
  }
}

/** What keeps a model's host from taking a schema. */
function unusable(schema: JsonObject, at = ""): string[] {
  const found: string[] = [];
  if (at === "" && schema.type !== "object") found.push("the root is no object");
  for (const word of ["allOf", "anyOf", "oneOf", "not", "if", "$ref"])
    if (word in schema) found.push(`${at} has ${word}`);
  if (schema.type === undefined) found.push(`${at} has no type`);
  if (schema.type === "array" && !isJsonObject(schema.items)) found.push(`${at} is a list of nobody knows what`);
  for (const [name, one] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
    found.push(...unusable(one, `${at}/${name}`));
  }
  if (isJsonObject(schema.items)) found.push(...unusable(schema.items, `${at}/*`));
  return found;
}

const folders = new Map(publishedReleases().map((folder) => [path.basename(folder), folder]));

for (const version of cellsOf("./run test test/seller/mcp-listing", [...folders.keys()], 2)) {
  const folder = folders.get(version)!;
  test(`${version}: a model can be given the tools of a seller, and can call them`, async () => {
    const { release } = await wholeReleaseIn(folder);
    if (release.specialisms.sales_guaranteed === undefined) return;
    const names = salesTools(release);
    const listed = await listingOf(release, names);
    const bytes = Buffer.byteLength(JSON.stringify(listed));
    assert.ok(bytes <= MOST.all, `${bytes} bytes`);
    assert.ok(bytes / listed.length <= MOST.tool, `${bytes / listed.length} bytes a tool`);
    const validator = createValidator(release);
    for (const { name, description, title, inputSchema } of listed) {
      assert.equal(unusable(inputSchema), [], name);
      assert.ok(title.length > 0 && description.length > 0, name);
      const request = least(inputSchema) as JsonObject;
      const judged = await validator.then((one) => one.request(name, request));
      assert.equal(judged.ok ? [] : judged.errors, [], `${name} ${JSON.stringify(request)}`);
    }
  });
}

const json = (file: string): JsonObject => JSON.parse(readFileSync(file, "utf8")) as JsonObject;

/** Tool lists of a release's own. */
const tellingTools = (folder: string): string[] =>
  globSync("mcp/**/manifest.json", { cwd: folder }).map((file) => path.join(folder, path.dirname(file)));

for (const [version, folder] of folders) {
  const lists = tellingTools(folder);
  if (lists.length === 0) continue;
  test(`${version}: a seller lists what the release publishes for MCP`, async () => {
    const { release } = await wholeReleaseIn(folder);
    const names = salesTools(release);
    for (const published of lists) {
      const {
        tools,
        discovery_profile: parent,
        complete_discovery_projection: rest,
      } = json(path.join(published, "manifest.json"));
      const options = { schemas: { published }, output: true } as const;
      if (parent !== undefined) {
        const error = await thrownBy(() => listingOf(release, names, options));
        assert.is(error.remedy, `name ${path.dirname(path.resolve(published, parent as string))}`);
        continue;
      }
      const listed = await listingOf(release, names, options);
      for (const { name, inputSchema, outputSchema } of listed as (Listed & { outputSchema: JsonObject })[]) {
        const own = (tools as Record<string, JsonObject>)[name];
        const from = own === undefined ? path.resolve(published, rest as string, "..") : published;
        const entry = own ?? (json(path.resolve(published, rest as string)).tools as Record<string, JsonObject>)[name]!;
        assert.equal(inputSchema, { type: "object", ...json(path.join(from, entry.inputSchema as string)) }, name);
        assert.equal(outputSchema, { type: "object", ...json(path.join(from, entry.outputSchema as string)) }, name);
      }
    }
  });
}

test("a folder that is no published tool list of the release is refused, with what to do", async () => {
  const folder = tempFolder();
  const put = (name: string, value: unknown): string => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
    return path.dirname(file);
  };
  put("release/manifest.json", { word_version: "3.1.0", tools: {} });
  put("release/mcp/broken.json", "{");
  put("outside.json", { type: "object" });
  const canonical_wire_manifest = "../../manifest.json";
  const listOf = (inputSchema: string, more: JsonObject = {}): string =>
    put("release/mcp/list/manifest.json", {
      canonical_wire_manifest,
      tools: { get_products: { inputSchema } },
      ...more,
    });
  const faultOf = async (published: string): Promise<string> => {
    const error = await thrownBy(() => listingOf(release, ["get_products"], { schemas: { published } }));
    assert.is(error.code, "file_unusable");
    assert.ok(error.where!.startsWith(folder) && error.remedy!.length > 0);
    return error.message.slice(0, error.message.indexOf(" ("));
  };
  const faults: readonly [published: () => string, fault: string][] = [
    [() => path.join(folder, "nowhere"), "there is no manifest.json of a published tool list"],
    [() => path.join(folder, "release"), "its manifest.json gives no tool an inputSchema"],
    [() => listOf("gone.json"), "there is no such file"],
    [() => listOf("../broken.json"), "it is no JSON"],
    [() => listOf("../../../outside.json"), `it is outside of ${folder}/release`],
    [
      () => listOf("x", { complete_discovery_projection: "../../../outside.json" }),
      `it is outside of ${folder}/release`,
    ],
    [
      () => listOf("x", { canonical_wire_manifest: "../../../outside.json" }),
      "it is of a release that states no version",
    ],
  ];
  for (const [published, fault] of faults) assert.is(await faultOf(published()), fault);
});

test.run();
