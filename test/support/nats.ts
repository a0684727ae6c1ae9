/** Three servers of NATS with JetStream as processes on loopback, in a temporary folder, ended with whoever started them. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as natsConnect } from "@nats-io/transport-node";
import { freePort } from "../../runtime/testing/free-port.js";
import { guard } from "../runner/guard.js";

export interface TestNats {
  /** `nats://...` of all of them, with commas between. */
  readonly url: string;
  /** Kills one with -9. @param which 0, 1 or 2 */
  kill(which: number): Promise<void>;
  /** Starts one that was killed, on what it had kept. */
  start(which: number): Promise<void>;
  /** A folder with everything they keep. */
  readonly folder: string;
  stop(): Promise<void>;
}

/** Where `./run` puts it when a command needs it. */
const server = path.resolve(import.meta.dirname, "../../.cache/nats/nats-server");

export const hasNats = (): boolean => existsSync(server);

/** What a test says that goes without. */
export const NO_NATS = "skipped: no nats-server in .cache/nats; ./run faults sender --queue nats installs it, with Go";

const STEP_MS = 25;
const START_LIMIT_MS = 20_000;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => resolve(true)).once("error", () => resolve(false));
    socket.once("data", () => socket.destroy());
  });

async function waitFor(port: number): Promise<void> {
  const end = performance.now() + START_LIMIT_MS;
  while (!(await answers(port))) {
    if (performance.now() > end) throw new Error(`nats-server on port ${port} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}

/** A server answers before the servers have a leader among them; what is asked until then is lost. */
async function waitForLeader(servers: readonly string[]): Promise<void> {
  const connection = await natsConnect({ servers: [...servers] });
  const end = performance.now() + START_LIMIT_MS;
  try {
    while (performance.now() < end) {
      const info = await connection.request("$JS.API.INFO", "", { timeout: 250 }).catch(() => undefined);
      if (info !== undefined && !("error" in info.json<object>())) return;
    }
    throw new Error("nats-server: no leader was elected");
  } finally {
    await connection.close();
  }
}

/** @param count servers: 1 or 3 */
export async function startNats(count: 1 | 3 = 3): Promise<TestNats> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "adbind-nats-")));
  const release = guard(folder, "processes");
  const nodes: { readonly port: number; readonly route: number; child?: ChildProcess }[] = [];
  for (let at = 0; at < count; at++) nodes.push({ port: await freePort(), route: await freePort() });
  const routes = nodes.map(({ route }) => `nats://127.0.0.1:${route}`).join(",");
  const start = async (which: number): Promise<void> => {
    const node = nodes[which]!;
    const own = ["-a", "127.0.0.1", "-p", `${node.port}`, "-n", `n${which}`];
    const clustered = ["--cluster_name", "adbind", "--cluster", `nats://127.0.0.1:${node.route}`, "--routes", routes];
    const given = [...own, "-js", "-sd", path.join(folder, `n${which}`), ...(count === 1 ? [] : clustered)];
    node.child = spawn(server, given, { stdio: "ignore", cwd: folder });
    node.child.unref();
    await waitFor(node.port);
  };
  const kill = async (which: number): Promise<void> => {
    const { child } = nodes[which]!;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill("SIGKILL");
    await gone;
  };
  await Promise.all(nodes.map((_, which) => start(which)));
  const urls = nodes.map(({ port }) => `nats://127.0.0.1:${port}`);
  await waitForLeader(urls);
  return {
    url: urls.join(","),
    folder,
    kill,
    start,
    async stop() {
      await Promise.all(nodes.map((_, which) => kill(which)));
      rmSync(folder, { recursive: true, force: true });
      release();
    },
  };
}
