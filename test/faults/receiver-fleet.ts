/** Receivers that are killed, each with a spare that takes over, and what is sent to them. */
import { type ChildProcess, spawn } from "node:child_process";
import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { type Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { signWebhook } from "../../runtime/signing/index.js";
import { fromSource } from "../runner/from-source.js";

export const PUBLIC_URL = "https://hooks.buyer.example";

/** One place in the fleet: a process that serves, and a spare that takes over when it dies. */
export class Victim {
  ready: Promise<unknown> = Promise.resolve();
  serving = false;
  #child: ChildProcess | undefined;
  #spare: ChildProcess;
  #wanted = true;

  constructor(
    readonly url: string,
    readonly port: number,
    /** A key as JSON, or what else its process is told. */
    readonly jwk: string,
    readonly script = "./receiver-child.ts",
  ) {
    this.#spare = this.#spawn();
    this.#takeOver();
  }

  #spawn(): ChildProcess {
    const file = fileURLToPath(new URL(this.script, import.meta.url));
    const args = [...fromSource, file, this.url, String(this.port), this.jwk];
    return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  }

  #takeOver(): void {
    const child = this.#spare;
    this.#child = child;
    const exit = once(child, "exit");
    this.ready = Promise.race([once(child.stdout!, "data"), exit]).then(() => {
      this.serving = child.exitCode === null && child.signalCode === null;
      // Loading the next one costs as much as serving: not before this one serves.
      this.#spare = this.#spawn();
    });
    void exit.then(() => {
      this.serving = false;
      if (this.#wanted) void this.ready.then(() => this.#takeOver());
    });
    child.stdin!.write("go\n");
  }

  async kill(): Promise<void> {
    const child = this.#child!;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    // Until the spare has its place: `ready` speaks of that one from here on.
    while (this.#wanted && this.#child === child) await new Promise((resolve) => setImmediate(resolve));
  }

  async end(): Promise<void> {
    this.#wanted = false;
    await this.ready;
    await this.kill();
    this.#spare.kill("SIGKILL");
  }
}

/** Receivers, and who calls them. */
export interface Fleet {
  readonly victims: readonly Victim[];
  readonly agent: Agent;
}

/** Signs an event and sends it to one that serves. @returns status and text of the answer; 0 where the connection broke */
export async function attempt(
  { victims, agent }: Fleet,
  target: string,
  body: Uint8Array,
  key: KeyObject,
): Promise<[number, string]> {
  const serving = victims.filter((victim) => victim.serving);
  const { port } = serving[Math.floor(Math.random() * serving.length)] ?? victims[0]!;
  const unsigned = { method: "POST", url: PUBLIC_URL + target, headers: {}, body };
  const { headers } = await signWebhook(unsigned, { key, keyid: "key-1" });
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, method: "POST", path: target, agent, headers: { ...headers } });
    sent.on("response", (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve([answer.statusCode!, text]));
      answer.on("error", () => resolve([0, ""]));
    });
    sent.on("error", () => resolve([0, ""]));
    sent.end(body);
  });
}

/** The n-th event of a task. */
export function eventOf(task: string, key: string, n: number): Buffer {
  const timestamp = new Date().toISOString().replace("Z", `${String(n).padStart(3, "0")}Z`);
  const envelope = { idempotency_key: key, task_id: task, task_type: "x", status: "working", timestamp };
  return Buffer.from(JSON.stringify({ ...envelope, result: { filler: "x".repeat(500) } }));
}
