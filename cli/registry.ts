/** `adbind registry`: the server, and what its operators do beside it. */
import type { Command } from "commander";
import { register as registerAccounts } from "./registry-accounts.js";
import { register as registerServe } from "./registry-serve.js";

export function register(command: Command): void {
  registerServe(command);
  registerAccounts(command);
}
