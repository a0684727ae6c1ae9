/** The processes of the registry's bench: started, asked and ended. */
import { readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { Pool } from "undici";
import type { SearchParts } from "../../runtime/registry/types.js";
import { Child } from "./child.js";
import { type Client, startClient } from "./client.js";
import { buildPackage, transpile } from "./package.js";

const root = path.resolve(import.meta.dirname, "../..");

/** A process of the bench, and the lines it reports. */
export interface Program {
  /** The processes' program, compiled against the package as a user has it. */
  readonly file: string;
}

/** Builds the package and the program into a folder: a loader for TypeScript would count as the registry's memory. */
export function buildProgram(folder: string): Program {
  const built = buildPackage(path.join(folder, "package"));
  symlinkSync(path.join(root, "manifests"), path.join(built.folder, "manifests"), "dir");
  const target = path.join(built.folder, "dist/bench/support");
  transpile(path.join(import.meta.dirname, "inventory.ts"), target);
  // What the inventory draws by.
  transpile(path.join(root, "test/support/random.ts"), path.join(built.folder, "dist/test/support"));
  return { file: transpile(path.join(import.meta.dirname, "registry-children.ts"), target) };
}

/** Runs one to its end. @returns what it reports */
export async function done<T>(program: Program, ...args: string[]): Promise<T> {
  const child = new Child([program.file, ...args]);
  const report = await child.report<T>();
  await child.end();
  return report;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Served {
  get<T>(path: string): Promise<T>;
  /** Whatever is answered; a POST where there is a body. */
  ask(path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<Answered>;
  /** Hands on what is told until it is stopped. */
  stream(path: string, take: (text: string) => void): Promise<() => void>;
  readonly client: Client;
  readonly warmMs: number;
  /** Processor time it took so far, in milliseconds. */
  cpuMs(): number;
  /** Ends it. @returns its memory in bytes */
  stop(): Promise<{ peak: number; now: number }>;
}

/** What the kernel counts processor time in, in milliseconds. */
const TICK_MS = 10;

/** Processor time that a process took so far, in milliseconds. */
export function cpuMsOf({ process: { pid } }: Child): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** As docs/registry.md recommends. */
const SERVER_FLAGS = ["--max-semi-space-size=16"];

/** A server of a registry, and a client of it. @param parts where the search's index is, if not in the server */
export async function serve(program: Program, store: string, parts?: SearchParts): Promise<Served> {
  const asking = parts === undefined ? [] : [JSON.stringify(parts)];
  const child = new Child([...SERVER_FLAGS, program.file, "serve", store, ...asking]);
  const { address, key, warmMs } = await child.report<{ address: string; key: string; warmMs: number }>();
  const pool = new Pool(address, { connections: 8 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const client = startClient(address, headers);
  return {
    async get<T>(target: string) {
      const answer = await pool.request({ method: "GET", path: target, headers });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${target}: ${answer.statusCode} ${text}`);
      return JSON.parse(text) as T;
    },
    async ask(target, more = {}, body) {
      const method = body === undefined ? "GET" : "POST";
      const options = {
        method,
        path: target,
        headers: { ...headers, ...more },
        ...(body !== undefined && { body }),
      } as const;
      const { statusCode: status, headers: given, body: answer } = await pool.request(options);
      return { status, headers: given, text: await answer.text() };
    },
    async stream(target, take) {
      const ending = new AbortController();
      const response = await fetch(address + target, { headers, signal: ending.signal });
      const read = async (): Promise<void> => {
        for await (const text of response.body!.pipeThrough(new TextDecoderStream())) take(text);
      };
      read().catch(() => undefined);
      return () => ending.abort();
    },
    client,
    warmMs,
    cpuMs: () => cpuMsOf(child),
    async stop() {
      await pool.close();
      await client.close();
      child.process.stdin!.end();
      const memory = await child.report<{ peak: number; now: number }>();
      await child.end();
      return memory;
    },
  };
}
