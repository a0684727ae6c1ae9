/** Whole receivers over HTTP, in turn, on one core; the client on another. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { KeyObject } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { preparePython, sdkPython } from "../../test/interop/signing/python.js";
import { fromSource } from "../../test/runner/from-source.js";
import { startPostgres } from "../../test/support/postgres.js";
import { median } from "./measure.js";
import { progressOf } from "./progress.js";
import { makeKeys, signedEvent } from "./receiver-events.js";
import { drive } from "./receiver-load.js";
import type { Row } from "./row.js";

export const CONNECTIONS = 64;
const WARM_UP_ROUNDS = 2;
const REQUESTS_PER_ROUND = 4_000;
const FIRST_PORT = 18_431;

const file = (name: string): string => path.join(import.meta.dirname, name);

/** Pins this process and its servers to cores of their own, where the machine lets us. */
const pinned = process.platform === "linux" && spawnSync("taskset", ["--version"]).status === 0;
const onCore = (core: number, command: readonly string[]): [string, string[]] =>
  pinned ? ["taskset", ["-c", String(core), ...command]] : [command[0]!, command.slice(1)];

interface Server {
  readonly port: number;
  /** Microseconds of processor time it has taken. */
  cpu(): Promise<number>;
  /** @returns everything it has said */
  stop(): Promise<string>;
}

async function startServer(name: string, port: number, command: readonly string[]): Promise<Server> {
  const [program, args] = onCore(0, command);
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const heard = new Set<() => void>();
  child.stdout!.on("data", (chunk) => {
    output += chunk;
    for (const look of heard) look();
  });
  const says = (from: number, what: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error(`the ${name} server ended`));
      const look = (): void => {
        const found = what.exec(output.slice(from));
        if (found === null) return;
        heard.delete(look);
        child.off("exit", gone);
        resolve(found);
      };
      child.once("exit", gone);
      heard.add(look);
      look();
    });
  await says(0, /ready\n/);
  return {
    port,
    async cpu() {
      const said = says(output.length, /cpu (\d+)\n/);
      child.kill("SIGUSR2");
      return Number((await said)[1]);
    },
    async stop() {
      const gone = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      await gone;
      return output;
    },
  };
}

/** Something that answers webhooks, measured beside the others. */
interface Contender {
  readonly name: string;
  readonly command: (port: number) => readonly string[];
  readonly key: KeyObject;
  readonly word?: string;
  /** It keeps events: at its end all must be handled. */
  readonly keeps: boolean;
}

/** What was measured of each, round by round. */
interface Measured {
  readonly perSecond: number[];
  readonly p99: number[];
  /** Milliseconds of processor time a request. */
  readonly cpu: number[];
}

const HANDLED = '{"wrong":0,"backlog":{"pending":0,"parked":0,"dead":0}}';

async function measureRound(server: Server, { key, word }: Contender, into: Measured | undefined): Promise<void> {
  const events = Array.from({ length: REQUESTS_PER_ROUND }, () => signedEvent(key, word === undefined ? {} : { word }));
  const before = await server.cpu();
  const { perSecond, latencies } = await drive(server.port, events, CONNECTIONS);
  const cpu = (await server.cpu()) - before;
  into?.perSecond.push(perSecond);
  into?.p99.push(latencies[Math.floor(latencies.length * 0.99)]!);
  into?.cpu.push(cpu / 1000 / REQUESTS_PER_ROUND);
}

async function measureAll(contenders: readonly Contender[], rounds: number): Promise<Map<string, Measured>> {
  const measured = new Map(contenders.map(({ name }) => [name, { perSecond: [], p99: [], cpu: [] } as Measured]));
  const servers = new Map<Contender, Server>();
  const ends = new Map<Contender, string>();
  const tell = progressOf("http");
  if (pinned) spawnSync("taskset", ["-cp", "1", String(process.pid)]);
  try {
    for (const [at, one] of contenders.entries()) {
      servers.set(one, await startServer(one.name, FIRST_PORT + at, one.command(FIRST_PORT + at)));
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      for (const [one, server] of servers) {
        await measureRound(server, one, round < 0 ? undefined : measured.get(one.name));
      }
      tell(round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`);
    }
  } finally {
    for (const [one, server] of servers) ends.set(one, await server.stop());
    if (pinned) spawnSync("taskset", ["-cp", "0-1023", String(process.pid)]);
  }
  for (const [{ name, keeps }, end] of ends) {
    if (keeps && !end.includes(HANDLED)) throw new Error(`${name} left events unhandled, or judged them wrong: ${end}`);
  }
  return measured;
}

/** @param rounds measured of each, after two that are not */
export async function httpRows(rounds: number): Promise<Row[]> {
  const where = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  const cluster = await startPostgres();
  const ours = makeKeys();
  // Theirs believes keys of its own word and of this purpose only.
  const theirs = makeKeys({ adcp_use: "webhook-signing" });
  const server = (kind: string, url: string) => (port: number) => [
    ...[process.execPath, ...fromSource, file("receiver-server.ts")],
    ...[kind, String(port), JSON.stringify(ours.jwk), url],
  ];
  const key = ours.privateKey;
  const sqlite = (name: string): string => `sqlite:${path.join(where, `${name}.db`)}`;
  const missing = preparePython();
  const contenders: Contender[] = [
    { name: "sqlite", command: server("receiver", sqlite("receiver")), key, keeps: true },
    { name: "bare", command: server("bare", ""), key, keeps: false },
    { name: "fastify", command: server("fastify", sqlite("fastify")), key, keeps: true },
    { name: "postgres", command: server("receiver", await cluster.database()), key, keeps: true },
  ];
  if (missing === undefined) {
    const command = (port: number) => [
      sdkPython,
      "-u",
      file("receiver-peer.py"),
      String(port),
      JSON.stringify(theirs.jwk),
    ];
    contenders.push({ name: "python", command, key: theirs.privateKey, word: "adcp", keeps: false });
  }
  try {
    return rowsOf(await measureAll(contenders, rounds), missing);
  } finally {
    await cluster.stop();
    rmSync(where, { recursive: true });
  }
}

const BARE = "a bare server that verifies";

/** @param missing why the Python SDK is not among them */
function rowsOf(measured: ReadonlyMap<string, Measured>, missing: string | undefined): Row[] {
  const of = (name: string): Measured => measured.get(name)!;
  const bare = of("bare");
  const speed = (name: string): number => median(of(name).perSecond.map((one, at) => one / bare.perSecond[at]!));
  const cpu = (name: string): string => `${median(of(name).cpu).toFixed(2)} ms`;
  const sides = (name: string): string =>
    `${Math.round(median(of(name).perSecond))}/s against ${Math.round(median(bare.perSecond))}/s, processor time a request ${cpu(name)} against ${cpu("bare")}`;
  const ratio = (name: string, called: string, note: string): Row => ({
    ...{ name: called, value: speed(name), unit: "x", floor: { of: BARE, times: 1 / speed(name) } },
    note: `${sides(name)}${note}`,
  });
  const how = `; 2 KB bodies, ${CONNECTIONS} connections, synchronous=FULL, ${pinned ? "one core each" : "cores not pinned"}`;
  const p99 = median(of("sqlite").p99);
  const spent = median(of("sqlite").cpu);
  return [
    {
      ...ratio("sqlite", "whole receiver over HTTP, SQLite, of a bare server that only verifies", how),
      target: { min: 0.75 },
    },
    {
      ...{ name: "whole receiver, SQLite, p99 latency", value: p99, unit: "ms" },
      floor: { of: BARE, times: p99 / median(bare.p99) },
      note: `bare ${median(bare.p99).toFixed(1)} ms`,
    },
    ratio("fastify", "the same as a fastify plugin", ""),
    ratio("postgres", "the same on PostgreSQL", "; the database's own is not counted, and it has the client's core"),
    {
      ...{ name: "processor time of the receiver a request, SQLite", value: spent, unit: "ms" },
      floor: { of: BARE, times: spent / median(bare.cpu) },
      note:
        missing === undefined
          ? `the Python SDK's receiver, in memory: ${cpu("python")}`
          : `the Python SDK is not here: ${missing}`,
    },
  ];
}
