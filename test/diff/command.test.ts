/** `adbind diff` as its users call it: forms, exit codes, and what is left out. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/diff.js";
import type { DiffReport } from "../../generator/diff/finding.js";
import { commandFolder, runCommand } from "../cli/run-command.js";
import { changedRelease, smallRelease, writeRelease } from "../support/release.js";

const REQUEST = "media-buy/list-orders-request.json";
const { at, remove } = commandFolder();
const older = writeRelease(smallRelease());
const newer = changedRelease((files) => {
  files["manifest.json"].proto_version = "1.3.0";
  files[REQUEST].required = [...(files[REQUEST].required ?? []), "unheard"];
});

async function run(...argv: string[]) {
  process.exitCode = undefined;
  const ran = await runCommand(register, argv);
  process.exitCode = undefined;
  return ran;
}

const reported = async (...argv: string[]): Promise<DiffReport> =>
  JSON.parse((await run(older, newer, "--json", ...argv)).out) as DiffReport;

test("json is what the published schema says, and has the break with its witness", async () => {
  const report = await reported();
  const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../adbind.diff.schema.json"), "utf8"));
  const validate = new Ajv({ strict: false }).compile(schema);
  assert.ok(validate(report), JSON.stringify(validate.errors));
  const found = report.findings.find(({ tool, side }) => tool === "list_orders" && side === "request");
  assert.equal([found?.verdict, found?.witness?.kind], ["broken", "payload"]);
});

test("the exit code tells nothing, findings, a wrong command line and an unreadable release apart", async () => {
  assert.is((await run(older, older)).code, 0);
  assert.is((await run(older, newer)).code, 1);
  assert.is((await run(older)).code, 2);
  assert.is((await run(older, newer, "--format", "no-such")).code, 2);
  assert.is((await run(older, at("nowhere"))).code, 3);
});

test("every form prints, and text begins with who breaks whom", async () => {
  for (const format of ["markdown", "sarif", "junit", "github-actions", "html"])
    assert.match(
      (await run(older, newer, "--format", format)).out,
      /property-required|required-property-added/,
      format,
    );
  assert.match((await run(older, newer)).out, /^proto 1\.2\.3 -> 1\.3\.0: \d+ changes?/);
  assert.match((await run(older, older)).out, /nothing changed in meaning/);
});

test("an accepted finding is left out until its last day", async () => {
  const { findings } = await reported();
  const rows = (expires: string) => findings.map(({ id }) => ({ id, reason: "known", by: "a maintainer", expires }));
  writeFileSync(at("accepted.json"), JSON.stringify(rows("2999-01-01")));
  assert.equal((await reported("--accept", "accepted.json")).summary.accepted, findings.length);
  writeFileSync(at("accepted.json"), JSON.stringify(rows("2000-01-01")));
  assert.equal((await reported("--accept", "accepted.json")).findings.length, findings.length);
  writeFileSync(at("accepted.json"), JSON.stringify([{ id: findings[0]!.id }]));
  assert.is((await run(older, newer, "--accept", "accepted.json")).code, 2);
});

test("traffic is judged, witnesses are written and run, and the matrix tells who breaks whom", async () => {
  const row = (payload: unknown) => JSON.stringify({ tool: "list_orders", direction: "request", payload });
  const found = (await reported()).findings.find(({ tool, side }) => tool === "list_orders" && side === "request");
  const payload = found?.witness?.kind === "payload" ? found.witness.payload : undefined;
  writeFileSync(at("traffic.jsonl"), `${row(payload)}\n${row(7)}\n`);
  const traffic = await run(older, newer, "--traffic", "traffic.jsonl");
  assert.match(traffic.out, /1 of 2 payloads break; 1 are none of the older release/);
  assert.is(traffic.code, 1);
  await run(older, newer, "--witness", "witnesses");
  assert.ok(readdirSync(at("witnesses")).includes(`${found!.id}.json`));
  symlinkSync(path.join(import.meta.dirname, "../../node_modules"), at("node_modules"));
  const replayed = spawnSync(process.execPath, ["--test", at(`witnesses/${found!.id}.test.mjs`)], { encoding: "utf8" });
  assert.is(replayed.status, 0, replayed.stdout);
  assert.match((await run("--matrix", older, newer)).out, /caller 1\.2\.3 +seller 1\.3\.0 +1 breaking in requests/);
});

test("what a project uses is told with its tools, fields and codes, file and line", async () => {
  mkdirSync(at("project/src"), { recursive: true });
  const other = changedRelease((files) => {
    files["manifest.json"].proto_version = "1.3.0";
    files[REQUEST].required = ["unheard"];
    files["manifest.json"].error_codes.BUSY.recovery = "terminal";
    files["core/line.json"].properties.colour = { type: "string" };
  });
  const found = async (source: string): Promise<[string, string | undefined][]> => {
    writeFileSync(at("project/src/a.ts"), source);
    const report = JSON.parse((await run(older, other, "--json", "--used-by", "project")).out) as DiffReport;
    return report.findings.map(({ rule, usedAt }) => [rule, usedAt?.[0]]);
  };
  assert.equal(await found("\nawait buyer.tools.list_orders({});\n"), [["required-property-added", "src/a.ts:2"]]);
  assert.equal(await found('if (code === "BUSY") retry();'), [["code-recovery", "src/a.ts:1"]]);
  assert.equal(await found("const nothing = 1;"), []);
  assert.is((await run(older, other, "--used-by", "nowhere")).code, 2);
});

test("suites: those that are named, and the one beside the schemas of an unpacked bundle", async () => {
  const board = (task: string) => `phases:\n  - id: p\n    steps:\n      - id: s\n        task: ${task}\n`;
  const suite = (folder: string, task: string): string => {
    mkdirSync(at(`${folder}/universal`), { recursive: true });
    writeFileSync(at(`${folder}/universal/a.yaml`), board(task));
    return folder;
  };
  const changed = async (...argv: string[]): Promise<string[]> =>
    (JSON.parse((await run(...argv, "--json")).out) as DiffReport).findings
      .filter(({ rule }) => rule.startsWith("storyboard"))
      .map(({ rule, at: place }) => `${rule} ${place}`);
  const named = [suite("old-suite", "list_orders"), suite("new-suite", "place_order")];
  assert.equal(await changed(older, newer, "--suites", ...named), ["storyboard-step-changed suite/universal/a.yaml"]);
  assert.equal(await changed(older, newer), []);
  for (const [name, from, task] of [
    ["b1", older, "list_orders"],
    ["b2", newer, "place_order"],
  ] as const) {
    cpSync(from, at(`${name}/schemas`), { recursive: true });
    suite(`${name}/compliance`, task);
  }
  assert.equal((await changed(at("b1/schemas"), at("b2/schemas"))).length, 1);
  assert.is((await run(older, newer, "--suites", "old-suite")).code, 2);
});

test("--verify asks a second validator, and nothing that was told falls", async () => {
  const { out, err } = await run(older, newer, "--json", "--verify");
  assert.match(
    err,
    /\d+ witnesses before a second validator, 0 findings disputed; \d+ payloads, 0 findings not safe after all, 0 messages/,
  );
  assert.equal(JSON.parse(out), await reported());
});

test("what is cleaned up", remove);
test.run();
