/** The official Python packages of both lines, each in a folder of its own under .cache/. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";

/** Milliseconds for one step of an installation, and for all of a client's steps. */
const LIMIT_MS = 300_000;
const packages = {
  new: ["mcp==2.3.0", "a2a-sdk[http-server]==1.3.0", "uvicorn"],
  old: ["mcp==1.30.0", "a2a-sdk[http-server]==0.3.26", "uvicorn"],
} as const;

export type Line = keyof typeof packages;

const folderOf = (line: Line): string => path.resolve(import.meta.dirname, `../../../.cache/python-transports-${line}`);
const pythonOf = (line: Line): string => path.join(folderOf(line), "bin", "python");

/** Makes the folder, once. @returns why there is none */
export function preparePackages(line: Line): string | undefined {
  const [mcp] = packages[line];
  const check = `import importlib.metadata as m; assert m.version("mcp") == "${mcp.split("==")[1]}"`;
  const python = pythonOf(line);
  if (existsSync(python) && spawnSync(python, ["-c", check], { timeout: LIMIT_MS }).status === 0) return undefined;
  console.error(`installing ${packages[line].join(", ")} under .cache/`);
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", folderOf(line)]],
    [python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages[line]]],
  ];
  for (const [command, given] of steps) {
    const { status, stderr } = spawnSync(command, given, { timeout: LIMIT_MS, encoding: "utf8" });
    if (status !== 0) return `${command} ${given.slice(0, 2).join(" ")}: ${stderr?.trim().split("\n").at(-1) ?? ""}`;
  }
  return undefined;
}

const script = (name: string): string => path.join(import.meta.dirname, name);

export interface ToldStep {
  readonly step: string;
  readonly fault: string | null;
}

/** Runs a client to its end. */
export async function runClient(line: Line, args: readonly string[], given: object): Promise<ToldStep[]> {
  const stdio = ["pipe", "pipe", "ignore"] as const;
  const child = spawn(pythonOf(line), ["-u", script("client.py"), ...args], { stdio: [...stdio], timeout: LIMIT_MS });
  child.stdin!.end(JSON.stringify(given));
  const steps: ToldStep[] = [];
  for await (const text of createInterface({ input: child.stdout! })) steps.push(JSON.parse(text) as ToldStep);
  return steps;
}

/** Starts a server. @returns where it is reached */
export async function startServer(line: Line, kind: string, answers: object) {
  const args = ["-u", script("server.py"), kind, JSON.stringify(answers)];
  const child = spawn(pythonOf(line), args, { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", (text) => resolve(Number(text)));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}${kind.startsWith("mcp") ? "/mcp" : ""}`,
    close: async () => void child.kill(),
  };
}
