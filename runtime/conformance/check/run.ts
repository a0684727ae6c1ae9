/** A live agent against what specialisms of a release ask of it, without a suite. */
import { createBuyer, type TransportChoice } from "../../buyer/index.js";
import { type Failure, type Release, toolsOfClaim } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { type CheckResult, Probe, type ToolReport } from "./probe.js";

/** Which agent to check, against which release and specialisms. */
export interface AgentCheckOptions {
  /** The agent: its MCP endpoint, or where its A2A card is. */
  readonly url: string;
  readonly release: Release;
  /** Ids as the release has them. */
  readonly specialisms: readonly string[];
  /** Send valid requests to tools that change state, too. */
  readonly mutating?: boolean;
  /** Bearer token. */
  readonly auth?: string;
  readonly transport?: TransportChoice;
  /** How long an answer may take, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** What an agent answers of what its specialisms ask. */
export interface AgentCheckReport {
  readonly url: string;
  readonly release: string;
  readonly specialisms: readonly string[];
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why nothing could be asked. */
  readonly problem?: string;
  /** Tools that the specialisms exercise and the agent does not list. */
  readonly missing: readonly string[];
  readonly tools: readonly ToolReport[];
}

/** Whoever typed a local address means it. */
const isLocal = (url: URL): boolean =>
  url.protocol === "http:" || /^(localhost|127\.|\[::1\])/.test(url.hostname) || url.hostname === "[::1]";

const TIMEOUT_MS = 30_000;

/** Asks an agent. It changes nothing there unless `mutating` says so. */
export async function checkAgent(options: AgentCheckOptions): Promise<AgentCheckReport> {
  const { url, release, specialisms, transport = "auto", timeoutMs = TIMEOUT_MS, auth, mutating = false } = options;
  const buyer = createBuyer({
    release,
    agent: { url, transport },
    allowLocal: isLocal(new URL(url)),
    timeoutMs,
    retry: { attempts: 2, baseMs: 500, totalMs: 20_000 },
    ...(auth !== undefined && { auth: { bearer: auth } }),
  });
  const head = { url, release: release.version, specialisms };
  const none = { passed: 0, failed: 1, skipped: 0, missing: [], tools: [] };
  try {
    const negotiation = await buyer.negotiate();
    if (!negotiation.ok) {
      const [error] = (negotiation.answer.data as Failure).errors;
      return { ...head, ok: false, ...none, problem: `${error?.code}: ${error?.message}` };
    }
    const claimed = specialisms.map((id) => toolsOfClaim(release.specialisms[id]!, Object.entries(release.tools)));
    const required = new Set(claimed.flatMap((one) => one.required));
    const exercised = claimed.flatMap(({ all }) => all);
    const asked = await Probe.open({ buyer, release, mutating });
    const tools: ToolReport[] = [];
    for (const name of new Set([...required, ...exercised])) tools.push(await asked.tool(name, required.has(name)));
    const all = tools.flatMap((tool) => tool.checks);
    const count = (outcome: CheckResult["outcome"]): number => all.filter((one) => one.outcome === outcome).length;
    const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
    const missing = tools.filter(({ offered }) => !offered).map(({ tool }) => tool);
    return { ...head, ok: counts.failed === 0, ...counts, missing, tools };
  } catch (error) {
    if (error instanceof AdbindError) throw error;
    return { ...head, ok: false, ...none, problem: error instanceof Error ? error.message : String(error) };
  } finally {
    await buyer.close();
  }
}
