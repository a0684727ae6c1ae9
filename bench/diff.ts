/**
 * What a comparison of published releases finds, and what it costs: each pair of neighbours of the corpus, the payloads of the
 * corpus that stop validating, every witness before a second validator, and the changes that are known to be in them.
 * `--only=cost,neighbours,form` runs some of it.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { loadSide } from "../cli/diff/load.js";
import { type CorpusPayload, verify } from "../cli/diff/verify.js";
import { diffReleases, messagesOf } from "../generator/diff/diff.js";
import type { DiffFinding, DiffReport, Side } from "../generator/diff/finding.js";
import type { DiffSide } from "../generator/diff/side.js";
import type { Json } from "../generator/model/shape.js";
import { schemaUri } from "../runtime/contract/index.js";
import { knownChanges } from "./support/diff-known.js";
import { partsOf } from "./support/options.js";
import type { Row } from "./support/row.js";

const corpus = path.resolve(process.env.ADBIND_CORPUS ?? path.join(import.meta.dirname, "../../shared"));
const line = ["3.0.4", "3.0.26", "3.1.0-beta.0", "3.1.0", "3.1.19", "3.2.0-beta.0", "3.2.0-beta.4", "3.2.4"];
/** What a user upgrades over, and the pair that figures are told of. */
const LEAP = ["3.1.19", "3.2.4"] as const;

const folderOf = (version: string): string => path.join(corpus, "releases", version);

const seconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

interface Published {
  readonly tool: string;
  readonly direction: string;
  readonly payload: Json;
}

const payloadsOf = (versions: readonly string[]): CorpusPayload[] =>
  versions
    .map((version) => path.join(corpus, "payloads", `${version}.json`))
    .filter(existsSync)
    .flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as Published[])
    .map(({ tool, direction, payload }) => ({
      tool,
      payload,
      side: (direction === "response" ? "answer" : direction) as Side,
    }));

/** Processor time of compiling every message of a release as the runtime's validator does. */
function compilingSeconds({ model, events, errors }: DiffSide): number {
  const started = seconds();
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, logger: false });
  formats.default(ajv);
  for (const { path: file, validation } of model.documents) ajv.addSchema(JSON.parse(validation), schemaUri(file));
  const refs = model.tools.flatMap((tool) => [...messagesOf(tool).values()]);
  for (const ref of new Set([...refs, ...events.values(), ...errors.values()])) ajv.getSchema(schemaUri(ref));
  return seconds() - started;
}

/** Processor time of the comparison against that of compiling the validators of both, before it and after. */
async function cost(): Promise<{ row: Row; report: DiffReport }> {
  const read = async () => [await loadSide(folderOf(LEAP[0])), await loadSide(folderOf(LEAP[1]))] as const;
  const sides = await read();
  const compiled = (): number => sides.reduce((sum, side) => sum + compilingSeconds(side), 0);
  const before = compiled();
  const started = seconds();
  const report = diffReleases(...sides);
  const taken = seconds() - started;
  const compiling = (before + compiled()) / 2;
  const row: Row = {
    name: `adbind diff ${LEAP.join(" ")} with witnesses, beside compiling the validators of both`,
    value: taken / compiling,
    unit: "x",
    target: { max: 2 },
    floor: { of: "compiling both releases' validators", times: taken / compiling },
    note: `${taken.toFixed(1)} s of processor against ${compiling.toFixed(1)} s, releases read before; ${report.summary.findings} findings`,
  };
  return { row, report };
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

interface Pair {
  readonly report: DiffReport;
  readonly unsaid: number;
  readonly refused: number;
  readonly disputed: number;
  readonly witnesses: number;
}

async function compared(from: string, to: string): Promise<Pair> {
  const sides = [await loadSide(folderOf(from)), await loadSide(folderOf(to))] as const;
  const report = diffReleases(...sides);
  const found = verify(report, sides, { corpus: payloadsOf([from, to]), generate: 0 });
  console.error(
    `${from} -> ${to}: ${JSON.stringify(report.summary)}; ${found.payloads} payloads shown, ${found.unsaid.length} messages unsaid, ${found.withdrawn.length} not safe; ${found.witnesses} witnesses, ${found.disputed.length} disputed`,
  );
  for (const each of found.unsaid) console.error(`  unsaid: ${each}`);
  return {
    report,
    unsaid: found.unsaid.length + found.withdrawn.length,
    refused: found.payloads,
    disputed: found.disputed.length,
    witnesses: found.witnesses,
  };
}

const isRefuted = ({ verdict, reason }: DiffFinding): boolean => verdict === "undecided" && reason === undefined;

async function neighbours(): Promise<Row[]> {
  const pairs = [
    ...line.slice(1).map((to, index): [string, string] => [line[index]!, to]),
    ["3.0.26", "3.1.0"] as const,
  ];
  const known = new Map<string, DiffReport>();
  const sum = { unsaid: 0, payloads: 0, disputed: 0, witnesses: 0, mute: 0 };
  for (const [from, to] of pairs.filter((pair) => pair.every((one) => existsSync(folderOf(one))))) {
    const { report, unsaid, refused, disputed, witnesses } = await compared(from, to);
    known.set(`${from} ${to}`, report);
    sum.unsaid += unsaid;
    sum.payloads += refused;
    sum.disputed += disputed;
    sum.witnesses += witnesses;
    sum.mute += report.findings.filter(isRefuted).length;
  }
  const missed = knownChanges.filter(({ pair, found }) => !found(known.get(pair)?.findings ?? []));
  for (const { pair, what } of missed) console.error(`not found: ${pair}: ${what}`);
  return [
    {
      name: "payloads of the corpus that stop validating between neighbours, and no finding says so",
      value: sum.unsaid,
      unit: "messages",
      target: { max: 0 },
      note: `${known.size} pairs, ${sum.payloads} payloads shown`,
    },
    {
      name: "findings whose payload a second validator does not confirm",
      value: sum.disputed,
      unit: "findings",
      target: { max: 0 },
      note: `${sum.witnesses} payloads, each before @cfworker/json-schema too`,
    },
    {
      name: "big changes between published releases that are found",
      value: knownChanges.length - missed.length,
      unit: `of ${knownChanges.length}`,
      target: { min: knownChanges.length },
      ...(missed.length > 0 && { note: `not found: ${missed.map(({ what }) => what).join("; ")}` }),
    },
    { name: "undecided findings without a reason", value: sum.mute, unit: "findings", target: { max: 0 } },
  ];
}

/** The same release as its publisher has it, and as another package holds it: no ids, other references. */
async function form(): Promise<Row> {
  const [a, b] = [await loadSide(folderOf("3.2.4")), await loadSide(path.join(corpus, "repacked", "3.2.4"))];
  return {
    name: "findings between two forms of one release",
    value: diffReleases(a, b).summary.findings,
    unit: "findings",
    target: { max: 0 },
    note: "3.2.4 as published, and without ids and with absolute references",
  };
}

export async function run(args: readonly string[]): Promise<Row[]> {
  if (!existsSync(folderOf(LEAP[1]))) throw new Error("the published releases are not here: set ADBIND_CORPUS");
  const asked = partsOf(args);
  const rows: Row[] = [];
  if (asked("cost")) {
    const { row, report } = await cost();
    const { undecided, findings } = report.summary;
    rows.push(row, {
      name: `undecided among the findings of ${LEAP.join(" -> ")}`,
      value: share(undecided, findings),
      unit: "%",
      target: { max: 10 },
      note: `${undecided} of ${findings}, each with its reason`,
    });
  }
  if (asked("form")) rows.push(await form());
  if (asked("neighbours")) rows.push(...(await neighbours()));
  return rows;
}
