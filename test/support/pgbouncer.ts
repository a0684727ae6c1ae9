/** A PgBouncer of the test's own in front of a test's PostgreSQL, pooling by transaction. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "../../runtime/testing/free-port.js";

export interface TestPooler {
  /** URL of the same database through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Is it installed? Debian's package has the server and nothing to start by hand: `apt-get install pgbouncer`. */
export const hasPgbouncer = (): boolean => spawnSync("pgbouncer", ["--version"]).status === 0;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

/**
 * Starts one on loopback.
 * @param url of any database of the server behind it
 * @param settings further settings, e.g. `{ ignore_startup_parameters: "options" }`
 */
export async function startPgbouncer(url: string, settings: Record<string, string> = {}): Promise<TestPooler> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-pgbouncer-"));
  const server = new URL(url);
  const port = await freePort();
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: path.join(folder, "users.txt"),
    pool_mode: "transaction",
    // Fewer than its clients: they take turns on them, and what is left on one is met by another.
    default_pool_size: 2,
    max_client_conn: 200,
    ...settings,
  };
  const settled = Object.entries(lines).map(([name, value]) => `${name} = ${value}`);
  const target = `host=127.0.0.1 port=${server.port} user=${server.username} password=${server.password}`;
  writeFileSync(path.join(folder, "users.txt"), `"${server.username}" "${server.password}"\n`);
  writeFileSync(path.join(folder, "pgbouncer.ini"), `[databases]\n* = ${target}\n[pgbouncer]\n${settled.join("\n")}\n`);
  // It refuses to run as root, and must reach its files as somebody else.
  chmodSync(folder, 0o755);
  const asOther = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", [...asOther, path.join(folder, "pgbouncer.ini")], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries === 200) {
      await stop();
      throw new Error("pgbouncer did not start");
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return {
    through(of) {
      const pooled = new URL(of);
      pooled.port = String(port);
      return pooled.href;
    },
    stop,
  };
}
