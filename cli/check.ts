/** `adbind check`: a live agent against what a specialism asks of it. */
import type { Command } from "commander";
import { specialismIn } from "../generator/load/part.js";
import { createBuyer, type TransportChoice } from "../runtime/buyer/index.js";
import type { Failure, Release } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { type CheckResult, checks, Probe, type ToolReport } from "./check/probe.js";
import { releaseNamed } from "./check/release-value.js";
import { closingLine } from "./closing-line.js";
import { printJson } from "./output.js";
import { type ReleaseOptions, releaseHelp, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  specialism: string[];
  release?: string;
  transport: TransportChoice;
  auth?: string;
  mutating?: boolean;
  timeout: string;
  json?: boolean;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** Ids may be kebab-case, as agents declare them. */
function specialismOf(release: Release, given: string): string {
  const known = Object.keys(release.specialisms);
  const id = specialismIn(known, given);
  const role = id === undefined ? undefined : release.specialisms[id]!.role;
  if (role !== undefined)
    throw usage(`${given} is for a ${role}, who calls its tools`, "a live agent answers: adbind conform judges buyers");
  if (id !== undefined) return id;
  throw usage(`release ${release.version} has no specialism ${given}`, `give one of ${known.join(", ")}`);
}

/** Whoever typed a local address means it. */
const isLocal = (url: URL): boolean =>
  url.protocol === "http:" || /^(localhost|127\.|\[::1\])/.test(url.hostname) || url.hostname === "[::1]";

interface Report {
  readonly url: string;
  readonly release: string;
  readonly specialisms: readonly string[];
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why nothing could be asked. */
  readonly problem?: string;
  readonly tools: readonly ToolReport[];
}

const mark = { passed: "ok", failed: "FAIL", skipped: "-" } as const;

/** Control characters of an agent must not reach a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);

function print(report: Report): void {
  for (const { tool, required, checks: results } of report.tools) {
    console.log(`${tool}${required ? "" : " (exercised)"}`);
    for (const { check, outcome, detail } of results) {
      console.log(`  ${mark[outcome].padEnd(5)}${check.padEnd(15)} ${printable(detail ?? checks[check])}`);
    }
  }
  if (report.problem !== undefined) console.log(`nothing could be asked: ${printable(report.problem)}`);
  const { passed, failed, skipped } = report;
  console.log(`${report.specialisms.join(", ")} of ${report.release}`);
  console.log(closingLine({ passed, failed, skipped }, "checks"));
}

async function probe(url: string, release: Release, specialisms: readonly string[], options: Options): Promise<Report> {
  const buyer = createBuyer({
    release,
    agent: { url, transport: options.transport },
    allowLocal: isLocal(new URL(url)),
    timeoutMs: Number(options.timeout) * 1000,
    retry: { attempts: 2, baseMs: 500, totalMs: 20_000 },
    ...(options.auth !== undefined && { auth: { bearer: options.auth } }),
  });
  const head = { url, release: release.version, specialisms };
  const none = { passed: 0, failed: 1, skipped: 0, tools: [] };
  try {
    const agreeing = await buyer.agreement();
    if (!agreeing.ok) {
      const [error] = (agreeing.answer.data as Failure).errors;
      return { ...head, ok: false, ...none, problem: `${error?.code}: ${error?.message}` };
    }
    const required = new Set(specialisms.flatMap((id) => release.specialisms[id]!.entryPoints));
    const exercised = specialisms.flatMap((id) => release.specialisms[id]!.exercised);
    const asked = await Probe.open({ buyer, release, mutating: options.mutating === true });
    const tools: ToolReport[] = [];
    for (const name of new Set([...required, ...exercised])) tools.push(await asked.tool(name, required.has(name)));
    const all = tools.flatMap((tool) => tool.checks);
    const count = (outcome: CheckResult["outcome"]): number => all.filter((one) => one.outcome === outcome).length;
    const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
    return { ...head, ok: counts.failed === 0, ...counts, tools };
  } catch (error) {
    if (error instanceof AdbindError) throw error;
    return { ...head, ok: false, ...none, problem: error instanceof Error ? error.message : String(error) };
  } finally {
    await buyer.close();
  }
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  withReleaseOptions(command)
    .argument("<url>", "the agent: its MCP endpoint, or where its A2A card is")
    .option("--specialism <id>", "what it is to keep, in snake or kebab case; may be given several times", collect, [])
    .option("--release <release>", `${releaseHelp}; the newest that comes with adbind by default`)
    .option("--transport <name>", "mcp, a2a or auto", "auto")
    .option("--auth <token>", "bearer token to call it with")
    .option("--mutating", "send valid requests to tools that change state, too")
    .option("--timeout <seconds>", "how long an answer may take", "30")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
Checks:
${Object.entries(checks)
  .map(([id, text]) => `  ${id.padEnd(15)} ${text}`)
  .join("\n")}

Tools that change state only get requests they have to refuse, members they require being left out, unless --mutating
is given: then they get the smallest valid request, under a fresh idempotency key, and may carry it out. Use --mutating
on a sandbox. Exit code: 0 nothing failed, 1 something did or the agent could not be asked, 2 the command line is wrong.

Example: adbind check https://seller.example/mcp --specialism sales_guaranteed`,
    )
    .action(async (url: string, options: Options) => {
      if (!URL.canParse(url)) throw usage(`${url} is no URL`, "give scheme and host, e.g. https://seller.example/mcp");
      if (!(Number(options.timeout) > 0)) throw usage("--timeout is no number of seconds", "give e.g. 30");
      if (!["mcp", "a2a", "auto"].includes(options.transport))
        throw usage("unknown transport", "give mcp, a2a or auto");
      const release = await releaseNamed(options.release, options);
      if (options.specialism.length === 0) {
        throw usage(
          "no specialism is given",
          `add --specialism with one of ${Object.keys(release.specialisms).join(", ")}`,
        );
      }
      const specialisms = options.specialism.map((id) => specialismOf(release, id));
      const report = await probe(url, release, specialisms, options);
      if (options.json) printJson(report);
      else print(report);
      if (!report.ok) process.exitCode = 1;
    });
}
