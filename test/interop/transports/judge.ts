/** Transports against the official packages: counterpart x version x direction x step. */
import type { Totals } from "../../../cli/closing-line.js";
import { release } from "../../../generated/3.1.0/index.js";
import { createBuyer } from "../../../runtime/buyer/index.js";
import { preparePackages, runClient, startServer } from "./python.js";
import { requests, startSeller, TOKEN } from "./seller.js";
import { a2aClientSteps, mcpClientSteps, type Step, startA2aServer, startMcpServer } from "./typescript.js";

interface Counted {
  passed: number;
  failed: number;
}

function tell(totals: Counted, cell: string, fault: string | null | undefined): void {
  if (fault === undefined || fault === null) totals.passed++;
  else totals.failed++;
  console.log(`${fault === undefined || fault === null ? "ok    " : "FAILED"} ${cell}${fault ? `: ${fault}` : ""}`);
}

async function run(totals: Counted, name: string, steps: readonly Step[]): Promise<void> {
  for (const [step, job] of steps) {
    const fault = await job().catch((error: unknown) => String(error).slice(0, 300));
    tell(totals, `${name}, ${step}`, fault);
  }
}

const answers = {
  get_agent_capabilities: {
    status: "completed",
    proto: { major_versions: [3], supported_versions: ["3.1"], idempotency: { supported: true } },
  },
  get_products: { status: "completed", products: [] },
};

/** Our buyer before a server: both agree, a tool is listed, called, and fails. */
function buyerSteps(agent: { url: string; transport: "mcp" | "a2a" }): Step[] {
  const buyer = createBuyer({ release, agent, allowLocal: true, retry: { attempts: 1 } } as never);
  const call = (name: string) => buyer.call(name, { buying_mode: "brief", brief: "b" });
  return [
    ["agree", async () => ((await buyer.negotiate()).ok ? undefined : "nothing was agreed")],
    ["list", async () => ((await buyer.listed()).includes("get_products") ? undefined : "the tool is not listed")],
    [
      "call",
      async () => {
        const { answer } = await call("get_products");
        return answer.status === "completed" ? undefined : JSON.stringify(answer);
      },
    ],
    [
      "refused",
      async () => {
        const { answer } = await buyer.call("list_accounts", {});
        await buyer.close();
        const told = JSON.stringify(answer);
        return answer.status === "failed" && /away|list_accounts/.test(told) ? undefined : told;
      },
    ],
  ];
}

async function clientsBeforeUs(totals: Counted): Promise<void> {
  const seller = await startSeller();
  try {
    for (const kind of ["mcp-1", "mcp-legacy", "mcp-auto"] as const)
      await run(totals, `typescript client ${kind}`, mcpClientSteps(seller.url, kind));
    for (const version of ["1.0", "0.3"] as const)
      await run(totals, `typescript client a2a ${version}`, a2aClientSteps(seller.url, version));
    for (const [line, kinds] of [
      ["old", ["mcp-1", "a2a-0.3"]],
      ["new", ["mcp-legacy", "mcp-auto", "a2a-1"]],
    ] as const) {
      for (const kind of kinds) {
        const url = kind.startsWith("mcp") ? `${seller.url}/mcp` : seller.url;
        for (const { step, fault } of await runClient(line, [kind, url, TOKEN], requests()))
          tell(totals, `python client ${kind}, ${step}`, fault);
      }
    }
  } finally {
    await seller.close();
  }
}

async function usBeforeServers(totals: Counted): Promise<void> {
  const opened = [
    ["typescript server mcp 1.x", () => startMcpServer("mcp-1", answers)],
    ["typescript server mcp 2.x", () => startMcpServer("mcp-2", answers)],
    ["python server mcp 1.x", () => startServer("old", "mcp-1", answers)],
    ["python server mcp 2.x", () => startServer("new", "mcp-2", answers)],
    ["typescript server a2a 1.0", () => startA2aServer("1.0", answers)],
    ["typescript server a2a 0.3", () => startA2aServer("0.3", answers)],
    ["python server a2a 1.x, of 1.0", () => startServer("new", "a2a-new-1.0", answers)],
    ["python server a2a 1.x, of 0.3", () => startServer("new", "a2a-new-0.3", answers)],
    ["python server a2a 0.3", () => startServer("old", "a2a-old", answers)],
  ] as const;
  for (const [name, open] of opened) {
    const { url, close } = await open();
    await run(totals, name, buyerSteps({ url, transport: name.includes(" mcp ") ? "mcp" : "a2a" }));
    await close();
  }
}

export async function judgeTransports(): Promise<Totals> {
  const totals = { passed: 0, failed: 0 };
  const missing = preparePackages("old") ?? preparePackages("new");
  if (missing !== undefined) tell(totals, "the Python packages", missing);
  else {
    await clientsBeforeUs(totals);
    await usBeforeServers(totals);
  }
  return totals;
}
