/** Every transport that agents are called by. The SDKs behind them are loaded when the first call is made. */
import { type TransportName, transportNames } from "../contract/index.js";
import { loadPeer } from "../peer.js";
import type { CallerDependencies, CallingTransport, Connection } from "./caller.js";
import { WireFault } from "./fault.js";

const callers: Readonly<Record<TransportName, CallingTransport>> = {
  mcp: {
    claims: (pathname) => /\/mcp\/?$/.test(pathname),
    announced: false,
    open: async (dependencies, signal) => {
      const wanted = ["@modelcontextprotocol/client"];
      const { openMcp } = await loadPeer(wanted, "a caller over MCP", () => import("./mcp/call.js"));
      return openMcp(dependencies, signal);
    },
  },
  a2a: {
    claims: () => false,
    announced: true,
    open: async (dependencies, signal) => {
      const { openA2a } = await loadPeer(["@a2a-js/sdk"], "a caller over A2A", () => import("./a2a/call.js"));
      return openA2a(dependencies, signal);
    },
  },
};

/** What is spoken where nothing tells otherwise. */
const USUAL: TransportName = "mcp";

/** Opens the transport asked for, or the one that the agent speaks. @throws WireFault, or an SDK's error */
export async function openConnection(
  transport: TransportName | "auto",
  dependencies: CallerDependencies,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const { pathname } = new URL(dependencies.url);
  const known = transport === "auto" ? transportNames.find((name) => callers[name].claims(pathname)) : transport;
  if (known !== undefined) return callers[known].open(dependencies, signal);
  for (const name of transportNames) {
    if (!callers[name].announced) continue;
    try {
      return await callers[name].open(dependencies, signal);
    } catch (error) {
      // Not announced there; but an agent that cannot be reached, or is in trouble, has said nothing of what it speaks.
      if (error instanceof WireFault && (error.status === undefined || error.status >= 500)) throw error;
    }
  }
  return callers[USUAL].open(dependencies, signal);
}
