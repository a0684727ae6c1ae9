import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BenchResult, saveCurves, saveResult, table, thisMachine } from "../../bench/support/report.js";
import { type Row, verdictOf } from "../../bench/support/row.js";
import { drawCurve } from "../../bench/support/svg.js";

const row = (value: number, target?: Row["target"]): Row => ({
  name: "a figure",
  value,
  unit: "s",
  ...(target && { target }),
});

const test = suite<{ folder: string }>("bench report");

test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-report-"));
});

test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

test("a target is kept up to and with its bound", () => {
  assert.is(verdictOf(row(2.5, { max: 2.5 })), "ok");
  assert.is(verdictOf(row(2.6, { max: 2.5 })), "missed");
  assert.is(verdictOf(row(900, { min: 900 })), "ok");
  assert.is(verdictOf(row(899, { min: 900 })), "missed");
  assert.is(verdictOf(row(5, { min: 1, max: 4 })), "missed");
  assert.is(verdictOf(row(1)), undefined);
});

test("a figure that is no number is missed, never ok", () => {
  assert.is(verdictOf(row(Number.NaN, { max: 1 })), "missed");
  assert.match(table([row(Number.NaN, { max: 1 })]), /none s .*MISSED/);
});

test("the table lines up its columns and says what was missed", () => {
  const lines = table([
    row(2.123456, { max: 2.5 }),
    { ...row(1234.5, { min: 2000 }), name: "another", unit: "/s" },
  ]).split("\n");
  assert.is(lines.length, 3);
  assert.match(lines[1]!, /^a figure +2\.12 s +<= 2\.5 s +ok$/);
  assert.match(lines[2]!, /^another +1235 \/s +>= 2000 \/s +MISSED$/);
  const column = lines[0]!.indexOf("verdict");
  assert.is(lines[1]!.indexOf("ok"), column);
  assert.is(lines[2]!.indexOf("MISSED"), column);
});

test("results of other benches stay, those of the same are replaced, and nothing is left beside", ({ folder }) => {
  const file = path.join(folder, "results.json");
  const result = (value: number): BenchResult => ({
    machine: thisMachine(new Date("2026-01-02T03:04:05Z")),
    rows: [row(value)],
  });
  saveResult(file, "signing", result(1));
  saveResult(file, "generate", result(2));
  saveResult(file, "signing", result(3));
  const results = JSON.parse(readFileSync(file, "utf8"));
  assert.equal(Object.keys(results), ["generate", "signing"]);
  assert.is(results.generate.rows[0].value, 2);
  assert.is(results.signing.rows[0].value, 3);
  assert.is(results.signing.machine.date, "2026-01-02");
  assert.is(results.signing.machine.node, process.version);
  assert.equal(readdirSync(folder), ["results.json"]);
});

test("a bench that was run in part keeps the figures of its other parts, each in its place", ({ folder }) => {
  const file = path.join(folder, "results.json");
  const machine = thisMachine();
  saveResult(file, "receiver", { machine, rows: [row(1), { ...row(2), name: "another figure" }] });
  const another = { ...row(4), name: "another figure" };
  const novel = { ...row(5), name: "a new figure" };
  saveResult(file, "receiver", { machine, rows: [novel, another] }, true);
  const { rows } = JSON.parse(readFileSync(file, "utf8")).receiver;
  assert.equal(rows, [row(1), another, novel]);
});

test("results that cannot be read are not overwritten", ({ folder }) => {
  const file = path.join(folder, "results.json");
  writeFileSync(file, "{ half of");
  assert.throws(() => saveResult(file, "generate", { machine: thisMachine(), rows: [] }), /JSON/);
  assert.is(readFileSync(file, "utf8"), "{ half of");
});

test("a curve is drawn, one point of it where its figure is, and is not kept with the figures", ({ folder }) => {
  const file = path.join(folder, "results.json");
  const points = [
    [1_000, 1],
    [1_000_000, 100],
  ] as const;
  const curve = {
    name: "search",
    title: "agents & time",
    x: { label: "agents", log: true },
    y: { label: "ms", log: true },
    lines: [{ name: "search", points }],
  };
  const rows: Row[] = [row(1), { ...row(2), curves: [curve] }];
  saveResult(file, "registry", { machine: thisMachine(), rows });
  assert.equal(JSON.parse(readFileSync(file, "utf8")).registry.rows, [row(1), row(2)]);
  const drawn = saveCurves(file, "registry", rows);
  assert.equal(
    drawn.map((one) => path.relative(folder, one)),
    ["curves/registry-search.svg"],
  );
  const svg = readFileSync(drawn[0]!, "utf8");
  assert.match(svg, /<title>agents &#38; time<\/title>/);
  // The corners of the plot: the least value of both axes, and the greatest.
  assert.match(svg, /<polyline points="80\.0,340\.0 570\.0,50\.0"/);
  const other = { ...curve, name: "memory" };
  const names = (): string[] => readdirSync(path.join(folder, "curves")).sort();
  saveCurves(file, "registry", [{ ...row(1), curves: [other] }], true);
  assert.equal(names(), ["registry-memory.svg", "registry-search.svg"]);
  saveCurves(file, "seller", [row(1)]);
  saveCurves(file, "registry", [{ ...row(1), curves: [other] }]);
  assert.equal(names(), ["registry-memory.svg"]);
  assert.throws(() => saveCurves(file, "empty", [{ ...row(1), curves: [{ ...curve, lines: [] }] }]), /no points/);
  assert.throws(() => saveCurves(file, "twice", [{ ...row(1), curves: [curve, curve] }]), /two curves .* search/);
});

test("names of lines that end together stand under each other", () => {
  const to = (name: string, end: number) => ({ name, points: [[0, 0] as const, [10, end] as const] });
  const svg = drawCurve({
    name: "close",
    title: "close",
    x: { label: "jobs" },
    y: { label: "ms" },
    lines: [to("lower", 99.9), to("upper", 100), to("far", 10)],
  });
  const place = (name: string): number => Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}<`).exec(svg)![1]);
  assert.is(place("upper"), 54);
  assert.is(place("lower"), 69);
  assert.ok(place("far") > 200);
});

test("a figure tells its floor, and keeps it with the results", ({ folder }) => {
  const file = path.join(folder, "results.json");
  const rows: Row[] = [
    { ...row(2), floor: { of: "bare node", times: 1.23456 }, note: "noted" },
    { ...row(1), floor: { none: "only told" } },
  ];
  const lines = table(rows).split("\n");
  assert.match(lines[1]!, /^a figure +2 s +1\.23 x bare node +noted$/);
  assert.match(lines[2]!, /^a figure +1 s +none: only told$/);
  saveResult(file, "signing", { machine: thisMachine(), rows: [rows[0]!] });
  assert.equal(JSON.parse(readFileSync(file, "utf8")).signing.rows[0].floor, { of: "bare node", times: 1.23456 });
});

test.run();
