/** An agent in a few lines, asked without a socket: what a storyboard of a test's own is run against. */
import { parse } from "yaml";
import { release } from "../../generated/3.1.0/index.js";
import { readStoryboard } from "../../runtime/conformance/document.js";
import {
  type ConformanceOptions,
  type ConformanceReport,
  runConformance,
  type StepResult,
  type Suite,
} from "../../runtime/conformance/index.js";
import { isJsonObject, type JsonObject, wireNames } from "../../runtime/contract/index.js";

/** Names that the release's word makes. */
export const names = wireNames(release.word);

export const AGENT = "https://agent.example/mcp";

export type SmallTools = Readonly<Record<string, (args: JsonObject) => JsonObject>>;

const capabilities: SmallTools[string] = () => ({
  status: "completed",
  [release.word]: { major_versions: [3] },
  supported_protocols: ["media_buy"],
});

/** Answers MCP's JSON-RPC with the tools given. */
export function smallAgent(given: SmallTools): typeof globalThis.fetch {
  const tools: SmallTools = { [names.capabilitiesTool]: capabilities, ...given };
  return async (_url, init) => {
    const { id, method, params } = JSON.parse(String(init?.body)) as JsonObject;
    if (id === undefined) return new Response(null, { status: 202 });
    const { name, arguments: args } = (isJsonObject(params) ? params : {}) as JsonObject;
    const answer = (): JsonObject => {
      if (method === "initialize")
        return {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "small", version: "1" },
        };
      if (method === "tools/list")
        return { tools: Object.keys(tools).map((one) => ({ name: one, inputSchema: { type: "object" } })) };
      const tool = tools[String(name)];
      if (tool === undefined) return { isError: true, content: [{ type: "text", text: `no tool ${name}` }] };
      return { content: [], structuredContent: tool(isJsonObject(args) ? args : {}) };
    };
    return Response.json({ jsonrpc: "2.0", id, result: answer() });
  };
}

/** A suite of one storyboard. @param phases its phases, as YAML */
export const suiteOf = (yaml: string, files: Readonly<Record<string, string>> = {}): Suite => ({
  place: "test",
  version: undefined,
  index: undefined,
  storyboards: [readStoryboard("universal/own.yaml", parse(yaml) as JsonObject)],
  files: new Map(Object.entries(files)),
});

/** Runs one storyboard; waits take no time. */
export async function runSmall(
  suite: Suite,
  tools: SmallTools,
  more: Partial<ConformanceOptions> = {},
): Promise<{ report: ConformanceReport; steps: Map<string, StepResult>; waited: number }> {
  let waited = 0;
  const report = await runConformance({
    url: AGENT,
    release,
    suite,
    webhooks: false,
    fetch: smallAgent(tools),
    now: () => Date.now() + waited,
    sleep: async (ms) => {
      waited += ms;
    },
    ...more,
  });
  const steps = new Map(report.storyboards.flatMap((one) => one.steps).map((step) => [step.step, step]));
  return { report, steps, waited };
}
