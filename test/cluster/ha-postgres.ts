/**
 * Three PostgreSQL under Patroni, one etcd, HAProxy in front: processes on loopback, in a folder of their own that goes with
 * them, and with whoever started them however that ends.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../runtime/testing/free-port.js";
import { signalIn } from "../runner/folder-processes.js";
import { guard } from "../runner/guard.js";
import { type Patience, until } from "../support/until.js";
import { type ClusterPrograms, type RunsAs, withinReach } from "./cluster-programs.js";
import {
  etcdArgs,
  type HaPlan,
  haproxyConfig,
  type NodePlace,
  PASSWORD,
  patroniConfig,
  SCOPE,
  USER,
} from "./ha-config.js";
import { isPrimary, type NodeState, stateOf } from "./node-state.js";

const NODES = 3;
/** Longest wait for the cluster, or for a node that joins it again, in milliseconds: it may be copied anew. */
const READY_LIMIT_MS = 120_000;
const POLL_MS = 100;
/** Longest wait for a connection, in milliseconds: it is tried again. */
const CONNECT_MS = 2_000;
/** SQLSTATE */
const DUPLICATE_DATABASE = "42P04";
/** Of a log, in an error. */
const TOLD_CHARACTERS = 1_500;

export interface HaPostgresOptions {
  readonly programs: ClusterPrograms;
  readonly as: RunsAs | undefined;
  /** Default true: what is acknowledged outlives any one node. */
  readonly synchronous?: boolean;
}

export interface HaPostgres {
  readonly folder: string;
  /** Through HAProxy: the primary, whichever it is. */
  readonly url: string;
  /** The nodes themselves, for a client that looks for the primary by itself. */
  readonly directUrl: string;
  readonly nodes: readonly NodePlace[];
  /** Another database, by both ways. */
  database(name: string): Promise<{ readonly url: string; readonly directUrl: string }>;
  /** The node that is the primary now, by its own word. */
  primary(): Promise<NodePlace | undefined>;
  /** As a machine that loses its power. */
  kill(node: NodePlace): void;
  freeze(node: NodePlace): void;
  thaw(node: NodePlace): void;
  /** Starts a killed node again on its data. */
  revive(node: NodePlace): void;
  /** Has Patroni hand the part of the primary to another node, in order. @throws Error with what Patroni said */
  switchOver(primary: NodePlace): Promise<void>;
  /** Waits until one node is the primary and the others follow it. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** A node is asked over HTTP, and a try makes a session: not all the time. */
const PATIENCE: Patience = { limitMs: READY_LIMIT_MS, stepMs: POLL_MS };

/**
 * Starts one on free ports.
 * @throws Error when it is not ready in time, with what its programs said last
 */
export async function startHaPostgres(options: HaPostgresOptions): Promise<HaPostgres> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "adbind-ha-")));
  chmodSync(folder, 0o755);
  const release = guard(folder, "processes");
  const programs = withinReach(options.programs, folder);
  const ports: number[] = [];
  while (ports.length < 3 + 2 * NODES) ports.push(await freePort());
  const [etcdPort, peerPort, primaryPort] = ports as [number, number, number];
  const nodes = Array.from({ length: NODES }, (_, at): NodePlace => {
    const name = `node-${at + 1}`;
    return { name, folder: path.join(folder, name), port: ports[3 + 2 * at]!, restPort: ports[4 + 2 * at]! };
  });
  const { synchronous = true } = options;
  const plan = { etcdPort, nodes, primaryPort, postgresBin: programs.postgresBin, synchronous };
  const cluster = new Cluster({ folder, plan, peerPort, programs, as: options.as, release });
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

interface Given {
  readonly folder: string;
  readonly plan: HaPlan;
  readonly peerPort: number;
  readonly programs: ClusterPrograms;
  readonly as: RunsAs | undefined;
  readonly release: () => void;
}

class Cluster implements HaPostgres {
  readonly folder: string;
  readonly nodes: readonly NodePlace[];
  readonly url: string;
  readonly directUrl: string;
  readonly #children = new Set<ChildProcess>();

  constructor(readonly given: Given) {
    const { folder, plan } = given;
    this.folder = folder;
    this.nodes = plan.nodes;
    ({ url: this.url, directUrl: this.directUrl } = this.#urlsOf("postgres"));
  }

  async start(): Promise<void> {
    const { folder, plan, peerPort, programs, as } = this.given;
    const etcd = path.join(folder, "etcd");
    mkdirSync(etcd, { mode: 0o700 });
    this.#spawn("etcd", programs.etcd, etcdArgs(plan.etcdPort, peerPort, etcd));
    for (const node of this.nodes) {
      mkdirSync(node.folder, { mode: 0o755 });
      writeFileSync(this.#configOf(node), patroniConfig(plan, node));
      if (as !== undefined) chownSync(node.folder, as.uid, as.gid);
    }
    writeFileSync(path.join(folder, "haproxy.cfg"), haproxyConfig(plan));
    for (const node of this.nodes) this.revive(node);
    await this.settled();
    this.#spawn("haproxy", programs.haproxy, ["-f", path.join(folder, "haproxy.cfg"), "-db", "-q"]);
    await until(
      () => this.#answers(),
      () => `HAProxy answers: ${this.#said("haproxy")}`,
      PATIENCE,
    );
  }

  revive(node: NodePlace): void {
    const { programs, as } = this.given;
    this.#spawn(node.name, programs.python, ["-m", "patroni", this.#configOf(node)], { cwd: node.folder, ...as });
  }

  kill(node: NodePlace): void {
    signalIn(node.folder, "SIGKILL");
  }

  freeze(node: NodePlace): void {
    signalIn(node.folder, "SIGSTOP");
  }

  thaw(node: NodePlace): void {
    signalIn(node.folder, "SIGCONT");
  }

  async primary(): Promise<NodePlace | undefined> {
    const states = await this.#states();
    return this.nodes.find((_, at) => isPrimary(states[at]));
  }

  async switchOver(primary: NodePlace): Promise<void> {
    const { programs } = this.given;
    // As `patronictl` does; a copy of that has the interpreter's old place in it.
    const args = ["-c", "from patroni.ctl import ctl; ctl()", "-c", this.#configOf(primary), "switchover", SCOPE];
    const { stdout } = await promisify(execFile)(programs.python, [...args, "--force", "--primary", primary.name], {
      env: { ...process.env, ...programs.env },
      timeout: READY_LIMIT_MS,
    });
    if (!stdout.includes("Successfully switched over")) throw new Error(`Patroni did not switch over: ${stdout}`);
  }

  async settled(): Promise<void> {
    let states: readonly (NodeState | undefined)[] = [];
    const { synchronous } = this.given.plan;
    const whole = async (): Promise<boolean> => {
      states = await this.#states();
      const replicas = states.filter((one) => one?.role === "replica" && one.replication_state === "streaming");
      const followed = !synchronous || replicas.some((one) => one?.sync_standby === true);
      return states.filter(isPrimary).length === 1 && replicas.length === NODES - 1 && followed;
    };
    const told = (): string =>
      `${states.map((one) => `${one?.role ?? "silent"} ${one?.state ?? ""}`).join(", ")}\n${this.nodes.map(({ name }) => this.#said(name)).join("\n")}`;
    await until(whole, () => `a primary that all others follow: ${told()}`, PATIENCE);
  }

  async database(name: string): Promise<{ readonly url: string; readonly directUrl: string }> {
    let last: unknown;
    const made = async (): Promise<boolean> => {
      const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: CONNECT_MS });
      client.on("error", () => undefined);
      try {
        await client.connect();
        await client.query(`create database ${client.escapeIdentifier(name)}`);
        return true;
      } catch (error) {
        last = error;
        // Made before, by a try whose answer was lost.
        return (error as { code?: unknown }).code === DUPLICATE_DATABASE;
      } finally {
        client.end().catch(() => undefined);
      }
    };
    // On a machine that is busy enough the primary may change before anybody meant it to.
    await until(made, () => `the database ${name} is made: ${String(last)}`, PATIENCE);
    return this.#urlsOf(name);
  }

  async stop(): Promise<void> {
    const gone = [...this.#children].map((child) => new Promise((resolve) => child.once("exit", resolve)));
    // Nothing of it is kept: there is nothing to put away in order.
    await until(() => signalIn(this.folder, "SIGKILL") === 0, "its processes are gone", PATIENCE);
    await Promise.all(gone);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
    this.given.release();
  }

  #urlsOf(name: string): { readonly url: string; readonly directUrl: string } {
    const { plan } = this.given;
    const login = `postgres://${USER}:${PASSWORD}@`;
    const hosts = plan.nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
    return {
      url: `${login}127.0.0.1:${plan.primaryPort}/${name}`,
      directUrl: `${login}${hosts}/${name}?target_session_attrs=read-write`,
    };
  }

  #configOf = ({ name }: NodePlace): string => path.join(this.folder, `${name}.yml`);

  #states(): Promise<(NodeState | undefined)[]> {
    return Promise.all(this.nodes.map(stateOf));
  }

  /** Whether HAProxy leads to the primary. */
  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: CONNECT_MS });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ standby: boolean }>("select pg_is_in_recovery() as standby");
      return rows[0]?.standby === false;
    } catch {
      return false;
    } finally {
      client.end().catch(() => undefined);
    }
  }

  #spawn(name: string, program: string, args: readonly string[], options: { cwd?: string } & Partial<RunsAs> = {}) {
    const log = openSync(this.#logOf(name), "a");
    const child = spawn(program, args, {
      cwd: this.folder,
      // Ctrl-C is for us: a process of its own group hears of it from us alone.
      detached: true,
      ...options,
      env: { ...process.env, ...this.given.programs.env },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.#children.add(child);
    child.once("error", () => this.#children.delete(child));
    child.once("exit", () => this.#children.delete(child));
  }

  #logOf = (name: string): string => path.join(this.folder, `${name}.log`);

  #said(name: string): string {
    const said = readFileSync(this.#logOf(name), "utf8");
    return said.slice(-TOLD_CHARACTERS);
  }
}
