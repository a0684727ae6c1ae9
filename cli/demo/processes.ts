/** Processes of the demo: started, listened to, killed by their own handle, and none left behind. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "../..");

/** As this process reads TypeScript, from any folder. */
const loader = [
  ...process.execArgv.map((flag) => (flag === "tsx" ? path.join(root, "node_modules/tsx/dist/loader.mjs") : flag)),
];

/**
 * Preloaded: a child ends when the channel to its parent does. Nothing else ends it where the parent alone is interrupted, or
 * killed. The channel keeps no child that has done its work.
 */
const withParent = [
  "--import",
  'data:text/javascript,process.once("disconnect",()=>process.exit(1));process.channel?.unref()',
];

const READY_LIMIT_MS = 60_000;

export interface Started {
  readonly pid: number;
  /** What it printed when it was ready. */
  readonly line: string;
  /** As `kill -9`: nothing is said, nothing is put away. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The line that says it is ready. */
  readonly ready: RegExp;
  /** Told of every line on stdout. */
  readonly onLine?: (line: string) => void;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a program of TypeScript and waits until it is ready. @throws Error with what it said, when it ends before */
export async function start(program: string, args: readonly string[], options: StartOptions): Promise<Started> {
  const child = spawn(process.execPath, [...loader, ...withParent, program, ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  running.add(child);
  const gone = new Promise<void>((resolve) =>
    child.once("exit", () => {
      running.delete(child);
      resolve();
    }),
  );
  let said = "";
  child.stderr!.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const line = await new Promise<string>((resolve, reject) => {
    let rest = "";
    const late = setTimeout(() => reject(new Error(`${program} is not ready:\n${said}`)), READY_LIMIT_MS);
    child.stdout!.on("data", (chunk: Buffer) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop()!;
      for (const one of lines) {
        options.onLine?.(one);
        if (!options.ready.test(one)) continue;
        clearTimeout(late);
        resolve(one);
      }
    });
    gone
      .then(() => {
        clearTimeout(late);
        reject(new Error(`${program} ended:\n${said}`));
      })
      .catch(reject);
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return { pid: child.pid!, line, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}

/** Runs a program of TypeScript to its end. @returns what it printed @throws Error with what it said, when it fails */
function finish(program: string, args: readonly string[], cwd = root): Promise<string> {
  const child = spawn(process.execPath, [...loader, ...withParent, program, ...args], {
    cwd,
    env: { ...process.env, ADBIND_CWD: cwd },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  running.add(child);
  let out = "";
  let said = "";
  child.stdout!.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr!.on("data", (chunk) => {
    said += chunk;
  });
  return new Promise((resolve, reject) =>
    child.once("close", (code) => {
      running.delete(child);
      if (code === 0) resolve(out);
      else reject(new Error(`${path.basename(program)} ${args.join(" ")} failed:\n${out}${said}`));
    }),
  );
}

/** The command itself: `adbind("registry", "import", ...)`. */
export const adbind = (args: readonly string[], cwd = root): Promise<string> =>
  finish(path.join(root, "cli/main.ts"), args, cwd);
