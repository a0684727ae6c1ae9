/** A process of a bench: lines of JSON go in and come out. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

// What the bench itself runs under is not for them: a loader for TypeScript, coverage.
const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;

export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** @param args what node runs */
  constructor(args: readonly string[]) {
    this.process = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  send(value: object): void {
    this.process.stdin!.write(`${JSON.stringify(value)}\n`);
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
