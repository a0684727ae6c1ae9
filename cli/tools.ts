/** `adbind tools`: what an agent offers, beside what the releases know of it. */
import type { Command } from "commander";
import { agentUnreachable } from "../runtime/conformance/agent-unreachable.js";
import type { AnyTool, Failure, Release } from "../runtime/contract/index.js";
import { printable } from "../runtime/printable.js";
import { type AgentOptions, agentHelp, connectAgent, withAgentOptions } from "./agent/connect.js";
import { tableLines } from "./agent/table.js";
import { plural, printJson } from "./output.js";

interface Options extends AgentOptions {
  json?: boolean;
}

interface OfferedRow {
  readonly tool: string;
  /** Null for a tool that the releases given do not have. */
  readonly protocol: string | null;
  readonly changes: "state" | "nothing" | null;
  readonly later: boolean | null;
  readonly summary: string | null;
}

function rowOf(name: string, releases: readonly Release[]): OfferedRow {
  const own = releases.map(({ tools }) => (Object.hasOwn(tools, name) ? tools[name] : undefined));
  const tool: AnyTool | undefined = own.find((one) => one !== undefined);
  if (tool === undefined) return { tool: name, protocol: null, changes: null, later: null, summary: null };
  const later = ["submitted", "working"].some((status) => Object.hasOwn(tool.arms, status));
  const { protocol, mutating, summary } = tool;
  return { tool: name, protocol, changes: mutating ? "state" : "nothing", later, summary: summary ?? null };
}

async function run(agent: string, options: Options): Promise<void> {
  const { buyer, url, releases } = await connectAgent(agent, options);
  try {
    const listed = await buyer.listed().catch((error: unknown) => {
      const remedy = "check the URL and credentials; adbind auth diagnose asks step by step";
      throw agentUnreachable(undefined, url, error, remedy);
    });
    const negotiation = await buyer.negotiate();
    const negotiated = negotiation.ok ? negotiation.negotiated.release.version : null;
    const rows = [...listed].sort().map((name) => rowOf(name, releases));
    const problem = negotiation.ok ? undefined : (negotiation.answer.data as Failure).errors[0];
    if (options.json) {
      printJson({ ok: negotiation.ok, agent: url, release: negotiated, tools: rows, ...(problem && { problem }) });
    } else {
      const cells = rows.map(({ tool, protocol, changes, later, summary }) => [
        tool,
        protocol ?? "not of this release",
        ...[changes ?? "", later ? "may take long" : "", summary ?? ""],
      ]);
      for (const line of tableLines(["tool", "protocol", "changes", "answers", "what it does"], cells))
        console.log(line);
      console.log(
        `${plural(rows.length, "tool")} at ${printable(url)}, ${negotiated === null ? "no release shared" : `release ${negotiated}`}`,
      );
      if (problem !== undefined) console.log(`${printable(problem.code)}: ${printable(problem.message)}`);
    }
    if (!negotiation.ok) process.exitCode = 1;
  } finally {
    await buyer.close();
  }
}

export function register(command: Command): void {
  withAgentOptions(command)
    .argument("<agent>", "a URL, or the name of an agent")
    .option("--json", "print JSON")
    .addHelpText("after", `${agentHelp}\n\nExample: adbind tools https://seller.example/mcp`)
    .action((agent: string, options: Options) => run(agent, options));
}
