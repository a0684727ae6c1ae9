/** `adbind-cli/registry`: the agent registry as a server. */
export * from "../../runtime/registry/index.js";
