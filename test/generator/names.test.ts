/** What a release calls its tools, folders and files is its own affair: whatever it is, bindings come of it, on every disk. */
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nameTools } from "../../generator/emit/names.js";
import { generate } from "../../generator/index.js";
import { notEveryDisks } from "../support/disk-names.js";
import { strictOptions } from "../support/literals.js";
import { userProject } from "../support/project.js";
import { changedRelease } from "../support/release.js";

/** Exports of the release module, words of the language, the folder's own module, names that are one in code, devices of Windows. */
const names = [
  ..."default_unknown_recovery error_codes events facts recovery_of release schemas specialisms tools".split(" "),
  ..."check_specialism class class_tool class_tool_tool default then arguments answer dispatch failure handlers".split(
    " ",
  ),
  ..."index name length prototype get_a1 get_a_1 get_a_1_tool order handle_order handle_handle_order".split(" "),
  ..."constructor con aux nul com1 con_tool validator validators precompiled tool tools_tool".split(" "),
];

test("tools of any name are generated, each under its own, in code that compiles", async () => {
  const source = changedRelease(({ "manifest.json": { tools } }) => {
    for (const name of names) tools[name] = { ...tools.list_orders, specialisms: [] };
  });
  const project = userProject();
  const { ok, releases } = await generate([source], { out: path.join(project, "bindings"), standalone: true });
  assert.is(ok, true, JSON.stringify(releases[0]?.findings));
  const folder = path.join(project, "bindings/1.2.3");
  assert.equal(notEveryDisks(readdirSync(folder, { recursive: true, encoding: "utf8" })), []);
  const { release, ...exports } = await import(path.join(folder, "index.ts"));
  const { validator } = await import(path.join(folder, "validators/index.ts"));
  for (const name of names) {
    assert.is(release.tools[name].name, name);
    assert.ok(Object.values(exports).includes(release.tools[name]), name);
    assert.is(validator.request(name, {}).ok, true, name);
  }
  const program = path.join(project, "all.ts");
  writeFileSync(
    program,
    `export * from "./bindings/1.2.3/index.js";\nexport * as v from "./bindings/1.2.3/validators/index.js";`,
  );
  const faults = ts.getPreEmitDiagnostics(ts.createProgram([program], strictOptions));
  assert.equal(
    faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")),
    [],
  );
});

test("of tools whose names are one in code the shortest keeps it, in whatever order the release names them", () => {
  const tools = ["get_a_1", "get_a_1_tool", "get_a1", "handle_order", "order", "get_b"];
  const named = nameTools(tools);
  assert.equal(
    tools.map((tool) => named.get(tool)?.ident),
    ["getA1Tool2", "getA1Tool", "getA1", "handleOrderTool", "order", "getB"],
  );
  assert.equal(new Map([...nameTools([...tools].reverse())].sort()), new Map([...named].sort()));
});

test("a tool of a part, and one that stays where others are left out, is called as in the whole release", async () => {
  const twins = ["get_a1", "get_a_1", "get_a_1_tool"];
  const source = changedRelease(({ "manifest.json": { tools } }) => {
    for (const name of twins) tools[name] = { ...tools.list_orders, specialisms: [] };
    tools.get_a1.request_schema = "gone.json";
  });
  const identIn = async (options: object) => {
    const out = path.join(userProject(), "bindings");
    const { ok, releases } = await generate([source], { out, standalone: true, partial: true, ...options });
    assert.is(ok, true, JSON.stringify(releases[0]?.findings));
    const { release, ...exports } = await import(path.join(out, "1.2.3/index.ts"));
    const { validator } = await import(path.join(out, "1.2.3/validators/index.ts"));
    assert.is(validator.request("get_a_1", {}).ok, true);
    return Object.keys(exports).filter((name) => exports[name] === release.tools.get_a_1);
  };
  assert.equal(await identIn({}), ["getA1Tool2"]);
  assert.equal(await identIn({ part: { tools: ["get_a_1"] } }), ["getA1Tool2"]);
});

test("folders and files that differ in case only, or are called as devices, are files on every disk", async () => {
  const folders = ["Core", "core", "CORE", "Index", "index", "con", "Aux", "index-folder"];
  const source = changedRelease((files) => {
    for (const [index, folder] of folders.entries()) {
      files[`${folder}/Con.json`] = { type: "object", properties: { [`a${index}`]: { type: "string" } } };
      files[`${folder}/thing.json`] = { type: "object", properties: { [`b${index}`]: { type: "string" } } };
      const { tools } = files["manifest.json"];
      const schemas = { request_schema: `${folder}/Con.json`, response_schema: `${folder}/thing.json` };
      tools[`try_${index}`] = { ...tools.list_orders, specialisms: [], ...schemas };
    }
    files["nul.json"] = { type: "object" };
    files["manifest.json"].tools.list_orders.response_schema = "nul.json";
  });
  const out = path.join(userProject(), "bindings");
  const { ok } = await generate([source], { out, standalone: true });
  assert.is(ok, true);
  const folder = path.join(out, "1.2.3");
  assert.equal(notEveryDisks(readdirSync(folder, { recursive: true, encoding: "utf8" })), []);
  const { release } = await import(path.join(folder, "index.ts"));
  const schemas = await release.schemas();
  for (const [index, name] of folders.entries())
    assert.ok(Object.hasOwn(JSON.parse(schemas[`${name}/Con.json`]).properties, `a${index}`), name);
});

test.run();
