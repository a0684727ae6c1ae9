/** Commands that call an agent: which one is meant, by which releases, and with what credentials. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import {
  agentsFrom,
  type Buyer,
  type BuyerAuth,
  type BuyerOptions,
  createBuyer,
  fileTokens,
  type TransportChoice,
} from "../../runtime/buyer/index.js";
import { homeFolder } from "../../runtime/conformance/cache-place.js";
import type { Release } from "../../runtime/contract/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { releaseForPeers } from "../check/release-value.js";
import { userPath } from "../output.js";
import { peersRelease, type ReleaseOptions, releaseHelp, withReleaseOptions } from "../release/resolve.js";
import { readUserFile } from "../user-file.js";

export interface AgentOptions extends ReleaseOptions {
  release: string[];
  transport: TransportChoice;
  auth?: string;
  agents?: string;
  timeout: string;
}

const AGENTS_FILE = "adbind.agents.json";

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

const collect = (value: string, before: string[]): string[] => [...before, value];

/** Declares what every command that calls an agent takes. */
export const withAgentOptions = (command: Command): Command =>
  withReleaseOptions(command)
    .option(
      "--release <release>",
      `${releaseHelp}; may be given several times, the newest shared one is used; ${peersRelease}`,
      collect,
      [],
    )
    .option("--transport <name>", "mcp, a2a or auto", "auto")
    .option("--auth <token>", "bearer token to call it with; better kept in the environment")
    .option("--agents <file>", `agents by name (default: ${AGENTS_FILE}, where there is one)`)
    .option("--timeout <seconds>", "how long an answer may take", "30");

export const agentHelp = `
Agents:
  A URL, or a name: of ${AGENTS_FILE},
    {"agents": {"acme": {"url": "https://acme.example/mcp", "tokenEnv": "ACME_TOKEN"}}}
  with "oauth": {"clientId": "...", "clientSecretEnv": "ACME_SECRET", "issuer": "https://..."} in place of a token (tokens are kept
  in $XDG_STATE_HOME/adbind/tokens; no issuer but the one that is named is shown the secret),
  or of the environment, which wins:
    ADBIND_AGENT_ACME=https://acme.example/mcp  ADBIND_AGENT_ACME_TOKEN=...`;

/** Tokens outlive the command: an issuer need not be asked at each call. */
function kept(auth: BuyerAuth): BuyerAuth {
  if (!("oauth" in auth)) return auth;
  const state = process.env.XDG_STATE_HOME ?? path.join(homeFolder(), ".local", "state");
  return { oauth: { tokens: fileTokens(path.join(state, "adbind", "tokens")), ...auth.oauth } };
}

/** Whoever typed a local address means it. */
const isLocal = (url: URL): boolean =>
  url.protocol === "http:" || /^(localhost|127\.|\[::1\])/.test(url.hostname) || url.hostname === "[::1]";

function agentsFile(given: string | undefined): unknown {
  const file = userPath(given ?? AGENTS_FILE);
  if (!existsSync(file)) {
    if (given === undefined) return undefined;
    throw usage(`there is no ${given}`, "correct the path, or leave --agents out");
  }
  const text = readUserFile(file).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new AdbindError("file_unusable", "the file of agents is no JSON", { where: file, remedy: "correct it" });
  }
}

export interface ConnectedAgent {
  readonly buyer: Buyer;
  readonly url: string;
  readonly releases: readonly [Release, ...Release[]];
  readonly options: BuyerOptions;
}

/**
 * A buyer of the agent that a command names.
 * @throws AdbindError `usage`, `buyer_option_invalid`, and those of releases
 */
export async function connectAgent(given: string, options: AgentOptions): Promise<ConnectedAgent> {
  const timeoutMs = Number(options.timeout) * 1_000;
  if (!(timeoutMs > 0)) throw usage("--timeout is no number of seconds", "give e.g. 30");
  if (!["mcp", "a2a", "auto"].includes(options.transport)) throw usage("unknown transport", "give mcp, a2a or auto");
  const known = URL.canParse(given) ? {} : agentsFrom(agentsFile(options.agents));
  const name = given.toLowerCase().replaceAll("-", "_");
  const entry = Object.hasOwn(known, name) ? known[name] : undefined;
  if (entry === undefined && !URL.canParse(given)) {
    const names = Object.keys(known).join(", ") || "none";
    throw usage(`there is no agent ${given}; known: ${names}`, `give a URL, or name it in ${AGENTS_FILE}`);
  }
  const named = entry?.agent as { readonly url: string; readonly transport?: TransportChoice } | undefined;
  const url = named?.url ?? given;
  const wanted = options.release.length === 0 ? [undefined] : options.release;
  const releases = (await Promise.all(wanted.map((one) => releaseForPeers(one, options)))) as [Release, ...Release[]];
  const transport = options.transport === "auto" ? (named?.transport ?? "auto") : options.transport;
  const auth = options.auth === undefined ? entry?.auth : { bearer: options.auth };
  const made: BuyerOptions = {
    ...{ release: releases[0], releases: releases.slice(1), agent: { url, transport }, timeoutMs },
    allowLocal: isLocal(new URL(url)),
    retry: { attempts: 2, baseMs: 500, totalMs: 20_000 },
    ...(auth !== undefined && { auth: kept(auth) }),
  };
  return { buyer: createBuyer(made), url, releases, options: made };
}
