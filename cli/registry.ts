/** `adbind registry`: the server, and what its operators do beside it. */
import type { Command } from "commander";
import { register as registerAccounts } from "./registry-accounts.js";
import { register as registerCrawl } from "./registry-crawl.js";
import { register as registerDoctor } from "./registry-doctor.js";
import { register as registerHosted } from "./registry-hosted.js";
import { register as registerIssuer } from "./registry-issuer.js";
import { register as registerMembers } from "./registry-members.js";
import { register as registerOptOuts } from "./registry-opt-outs.js";
import { register as registerServe } from "./registry-serve.js";
import { registerTransfer } from "./registry-transfer.js";

export function register(command: Command): void {
  registerServe(command);
  registerTransfer(command);
  registerCrawl(command);
  registerDoctor(command);
  registerAccounts(command);
  registerIssuer(command);
  registerMembers(command);
  registerHosted(command);
  registerOptOuts(command);
}
