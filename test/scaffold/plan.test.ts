/** Which tools and files a project gets, without a disk. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkNames } from "../../generator/emit/names.js";
import { checkRelease } from "../../generator/lint/check.js";
import { loadRelease } from "../../generator/load/load.js";
import { buildModel } from "../../generator/model/build.js";
import { planProject, toolsOf } from "../../generator/scaffold/plan.js";
import { companionsOf, neededFiles, readTemplates } from "../../generator/scaffold/template-files.js";
import { root } from "./project.js";

const loaded = await loadRelease(path.join(root, "manifests/3.1.0"));
const { broken } = await checkRelease(loaded, { checkNames, partial: false, levels: ["error"] });
const model = buildModel(loaded, broken);
const files = readTemplates();
const request = { name: "A shop", packageName: "a-shop", adbind: "^0.1.0" };

test("a tool without a behaviour gets a typed handler that says so", () => {
  const lacking = new Map([...files].filter(([file]) => file !== "tools/get-signals.ts"));
  const plan = planProject(model, lacking, { ...request, specialisms: ["signal_owned"] });
  assert.equal(plan.open, ["get_signals"]);
  const text = plan.files.get("src/tools/get-signals.ts")!;
  assert.match(text, 'export const getSignals: Handler<"get_signals">');
  assert.match(text, '"UNSUPPORTED_FEATURE"');
  assert.match(plan.files.get("README.md")!, "- get_signals (answers UNSUPPORTED_FEATURE)");
});

test("tools a seller answers of itself get no file", () => {
  for (const { id } of model.specialisms) {
    const tools = toolsOf(model, files, [id]);
    for (const builtIn of ["get_agent_capabilities", "get_task_status", "list_tasks"])
      assert.not(tools.includes(builtIn));
    assert.ok(tools.includes("comply_test_controller"));
  }
});

test("companions are closed: what a companion needs comes too", () => {
  assert.equal(companionsOf(new Map([["companions.json", '{"a": ["b"], "b": ["c"]}']]), ["a"]), ["a", "b", "c"]);
});

test("an area comes with its parts, and lists are never followed", () => {
  const made = new Map([
    ["tools/x.ts", 'import { x } from "../domain/one/x.js";\nimport { tools } from "./index.js";'],
    ["tools/index.ts", 'import { y } from "./y.js";'],
    ["tools/y.ts", ""],
    ["domain/one/x.ts", 'import { z } from "../two/z.js";'],
    ["domain/one/fixtures.ts", ""],
    ["domain/two/z.ts", ""],
    ["domain/two/scenarios.ts", 'import { w } from "../three/w.js";'],
    ["domain/three/w.ts", ""],
    ["domain/four/v.ts", ""],
  ]);
  assert.equal([...neededFiles(made, ["tools/x.ts"])].sort(), [
    "domain/one/fixtures.ts",
    "domain/one/x.ts",
    "domain/three/w.ts",
    "domain/two/scenarios.ts",
    "domain/two/z.ts",
    "tools/x.ts",
  ]);
});

test("a name may hold anything", () => {
  const plan = planProject(model, files, { ...request, name: 'Say "$&" \\ `x`', specialisms: ["signal_owned"] });
  assert.match(plan.files.get("src/seller.ts")!, JSON.stringify('Say "$&" \\ `x`'));
});

test("every template is reached by some tool", () => {
  const all = neededFiles(
    files,
    [...files.keys()].filter((file) => /^(tools\/|[\w-]+\.ts$)/.test(file)),
  );
  const unreached = [...files.keys()].filter((file) => file.startsWith("domain/") && !all.has(file));
  assert.equal(unreached, []);
});

test("templates name no protocol and no runner", () => {
  const offenders = [...files].filter(([, text]) => /adcp|storyboard|conformance suite runner|e2e/i.test(text));
  assert.equal(
    offenders.map(([file]) => file),
    [],
  );
});

test.run();
