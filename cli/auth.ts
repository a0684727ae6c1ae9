/** `adbind auth`: what an agent wants to know its callers by. */
import type { Command } from "commander";
import { printable } from "../runtime/printable.js";
import { type AgentOptions, agentHelp, connectAgent, withAgentOptions } from "./agent/connect.js";
import { diagnose } from "./agent/diagnose.js";
import { tableLines } from "./agent/table.js";
import { printJson } from "./output.js";

interface Options extends AgentOptions {
  json?: boolean;
}

async function run(given: string, options: Options): Promise<void> {
  const agent = await connectAgent(given, options);
  try {
    const { steps, advice } = await diagnose(agent);
    const ok = steps.every(({ check, outcome }) => outcome !== "refused" || check.endsWith("without credentials"));
    const last = steps.filter(({ check }) => check.includes("credentials")).at(-1);
    const good = ok && last?.outcome === "ok";
    if (options.json) printJson({ ok: good, agent: agent.url, steps, advice });
    else {
      const rows = steps.map(({ check, outcome }) => [check, outcome]);
      const lines = tableLines(["step", "outcome"], rows);
      console.log(`${lines[0]}  what was found`);
      for (const [at, { detail }] of steps.entries())
        console.log(`${lines[at + 1]!.padEnd(lines[0]!.length)}  ${printable(detail)}`);
      console.log(printable(advice));
    }
    if (!good) process.exitCode = 1;
  } finally {
    await agent.buyer.close();
  }
}

export function register(command: Command): void {
  withAgentOptions(
    command
      .command("diagnose")
      .description("asks an agent step by step, and says why it refuses")
      .argument("<agent>", "a URL, or the name of an agent"),
  )
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `${agentHelp}\n\nNothing is changed at the agent. Example: adbind auth diagnose https://seller.example/mcp`,
    )
    .action((agent: string, options: Options) => run(agent, options));
}
