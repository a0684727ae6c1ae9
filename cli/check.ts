/** `adbind check`: a live agent against what a specialism asks of it. */
import type { Command } from "commander";
import { specialismIn } from "../generator/load/part.js";
import type { TransportChoice } from "../runtime/buyer/index.js";
import { type AgentCheckReport, checkAgent, checks } from "../runtime/conformance/index.js";
import type { Release } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { releaseForPeers } from "./check/release-value.js";
import { closingLine } from "./closing-line.js";
import { printJson } from "./output.js";
import { peersRelease, type ReleaseOptions, releaseHelp, withReleaseOptions } from "./release/resolve.js";

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

const mark = { passed: "ok", failed: "FAIL", skipped: "-" } as const;

const MAX_CHARS = 300;

/** An agent wrote it. */
const told = (text: string): string => printable(text).slice(0, MAX_CHARS);

function print(report: AgentCheckReport): void {
  for (const { tool, required, checks: results } of report.tools) {
    console.log(`${tool}${required ? "" : " (exercised)"}`);
    for (const { check, outcome, detail } of results) {
      console.log(`  ${mark[outcome].padEnd(5)}${check.padEnd(15)} ${told(detail ?? checks[check])}`);
    }
  }
  if (report.missing.length > 0) console.log(`missing: ${report.missing.map(told).join(", ")}`);
  if (report.problem !== undefined) console.log(`nothing could be asked: ${told(report.problem)}`);
  const { passed, failed, skipped } = report;
  console.log(`${report.specialisms.join(", ")} of ${report.release}`);
  console.log(closingLine({ passed, failed, skipped }, "checks"));
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  withReleaseOptions(command)
    .argument("<url>", "the agent: its MCP endpoint, or where its A2A card is")
    .option("--specialism <id>", "what it is to keep, in snake or kebab case; may be given several times", collect, [])
    .option("--release <release>", `${releaseHelp}; ${peersRelease}`)
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
      const release = await releaseForPeers(options.release, options);
      if (options.specialism.length === 0) {
        throw usage(
          "no specialism is given",
          `add --specialism with one of ${Object.keys(release.specialisms).join(", ")}`,
        );
      }
      const specialisms = options.specialism.map((id) => specialismOf(release, id));
      const { transport, auth, mutating = false, timeout } = options;
      const report = await checkAgent({
        ...{ url, release, specialisms, transport, mutating },
        timeoutMs: Number(timeout) * 1_000,
        ...(auth !== undefined && { auth }),
      });
      if (options.json) printJson(report);
      else print(report);
      if (!report.ok) process.exitCode = 1;
    });
}
