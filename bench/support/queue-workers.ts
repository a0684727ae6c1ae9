/** Workers in processes of their own, started together and measured together. */
import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import { fromSource } from "../../test/runner/from-source.js";

export interface WorkersAsked {
  readonly name: string;
  readonly url: string;
  readonly listenUrl?: string;
  /** Processes. */
  readonly count?: number;
  readonly prompt?: boolean;
  /** Servers of NATS that hand events out, where it is not the database. */
  readonly queue?: string | undefined;
}

export interface Workers {
  /** Lets them begin. */
  begin(): void;
  /** @returns milliseconds from `begin` until so many events were sent */
  sent(count: number): Promise<number>;
  /** Processor milliseconds of all, from `begin` until what they told last. */
  usedMs(): number;
  /** @returns processor milliseconds of all, from `begin` on */
  stop(): Promise<number>;
}

const GIVEN_UP_MS = 180_000;

const answer = <T>(child: ChildProcess, is: (message: unknown) => message is T): Promise<T> =>
  new Promise((resolve, reject) => {
    const listen = (message: unknown): void => {
      if (!is(message)) return;
      child.off("message", listen);
      resolve(message);
    };
    child.on("message", listen);
    child.once("exit", (code) => reject(new Error(`a worker of the bench ended with ${code}`)));
  });

type Sent = { readonly sent: number; readonly usedMs: number };
type Cost = { readonly cpuMs: number };
const isReady = (message: unknown): message is "ready" => message === "ready";
const isSent = (message: unknown): message is Sent =>
  typeof message === "object" && message !== null && "sent" in message;
const isCost = (message: unknown): message is Cost =>
  typeof message === "object" && message !== null && "cpuMs" in message;

/** Starts processes, which load what they need and wait. */
export async function startWorkers({
  name,
  url,
  listenUrl,
  count = 1,
  prompt = false,
  queue,
}: WorkersAsked): Promise<Workers> {
  const file = path.join(import.meta.dirname, "queue-worker-child.ts");
  const children = Array.from({ length: count }, () =>
    fork(file, [JSON.stringify({ name, url, listenUrl, prompt, queue })], {
      execArgv: [...fromSource],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    }),
  );
  const counts = children.map(() => 0);
  const used = children.map(() => 0);
  let begun = 0;
  let told = (): void => undefined;
  for (const [at, child] of children.entries()) {
    child.on("message", (message) => {
      if (!isSent(message)) return;
      counts[at] = message.sent;
      used[at] = message.usedMs;
      told();
    });
  }
  await Promise.all(children.map((child) => answer(child, isReady)));
  return {
    begin() {
      begun = performance.now();
      for (const child of children) child.send("begin");
    },
    sent: (wanted) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${name}: ${counts} of ${wanted} were sent`)), GIVEN_UP_MS);
        told = () => {
          if (counts.reduce((sum, one) => sum + one, 0) < wanted) return;
          clearTimeout(timer);
          resolve(performance.now() - begun);
        };
        told();
      }),
    usedMs: () => used.reduce((sum, ms) => sum + ms, 0),
    async stop() {
      const costs = children.map((child) => answer(child, isCost));
      for (const child of children) child.send("stop");
      return (await Promise.all(costs)).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    },
  };
}
