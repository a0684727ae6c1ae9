/** The processes of the registry's bench: started, asked and ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Pool } from "undici";
import { buildPackage, transpile } from "./package.js";
import { createReader } from "./reader.js";

const root = path.resolve(import.meta.dirname, "../..");
// What the bench itself runs under is not for them: a loader for TypeScript, coverage.
const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;

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
  return { file: transpile(path.join(import.meta.dirname, "registry-children.ts"), target) };
}

class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(program: Program, args: readonly string[]) {
    this.process = spawn(process.execPath, [program.file, ...args], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  async report<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`a process of the bench ended early (${this.process.exitCode})`);
    return JSON.parse(value as string) as T;
  }

  /** Ends its input, and waits for its end. */
  async end(): Promise<void> {
    const exited = this.process.exitCode === null ? once(this.process, "exit") : undefined;
    this.process.stdin!.end();
    await exited;
  }
}

/** Runs one to its end. @returns what it reports */
export async function done<T>(program: Program, ...args: string[]): Promise<T> {
  const child = new Child(program, args);
  const report = await child.report<T>();
  await child.end();
  return report;
}

export interface Served {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  /** Reads an answer and lets it go: parsing it is the client's time, not the server's. @returns its bytes */
  read(path: string, body?: object): Promise<number>;
  readonly warmMs: number;
  /** Ends it. @returns its memory in bytes */
  stop(): Promise<{ peak: number; now: number }>;
}

/** A server of a registry, and a client of it. */
export async function serve(program: Program, store: string): Promise<Served> {
  const child = new Child(program, ["serve", store]);
  const { address, key, warmMs } = await child.report<{ address: string; key: string; warmMs: number }>();
  const pool = new Pool(address, { connections: 4 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const reader = createReader(address, headers);
  const ask = async <T>(method: "GET" | "POST", target: string, body?: object): Promise<T> => {
    const answer = await pool.request({
      method,
      path: target,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${target}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    get: (target) => ask("GET", target),
    post: (target, body) => ask("POST", target, body),
    read: (target, body) => reader.read(target, body && JSON.stringify(body)),
    warmMs,
    async stop() {
      await pool.close();
      reader.close();
      child.process.stdin!.end();
      const memory = await child.report<{ peak: number; now: number }>();
      await child.end();
      return memory;
    },
  };
}
