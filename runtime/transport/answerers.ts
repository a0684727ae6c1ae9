/** Every transport that an agent answers over. The SDKs behind them are loaded when a seller is made. */
import type { TransportName } from "../contract/index.js";
import { loadPeer } from "../peer.js";
import type { Answerer, AnswererDependencies } from "./answerer.js";

/** @throws AdbindError `package_missing` */
type Open = (dependencies: AnswererDependencies) => Promise<Answerer>;

export const answerers: Readonly<Record<TransportName, Open>> = {
  async mcp(dependencies) {
    const wanted = ["@modelcontextprotocol/server"];
    const { mcpAnswerer } = await loadPeer(wanted, "a seller over MCP", () => import("./mcp/answer.js"));
    return mcpAnswerer(dependencies);
  },
  async a2a(dependencies) {
    const { a2aAnswerer } = await loadPeer(["@a2a-js/sdk"], "a seller over A2A", () => import("./a2a/answer.js"));
    return a2aAnswerer(dependencies);
  },
};
