/** The official Python SDK as a peer: a process of its own, asked one question at a time. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Jwk } from "../../../runtime/signing/index.js";
import { freePort } from "../../../runtime/testing/free-port.js";
import type { PlainRequest, Signable, SigningPeer } from "./peer.js";

const SDK = "adcp==9.2.0";
const folder = path.resolve(import.meta.dirname, "../../../.cache/python-sdk");
/** The interpreter that has the SDK, once `preparePython` has run. */
export const sdkPython = path.join(folder, "bin", "python");
/** Milliseconds for one step of the installation: a slow mirror, but not one that hangs. */
const INSTALL_LIMIT_MS = 300_000;
/** Milliseconds for one answer; the SDK takes minutes to be imported on a busy machine. */
const ANSWER_LIMIT_MS = 300_000;
/** Milliseconds until a server of the SDK's listens, for the same reason. */
const START_LIMIT_MS = 480_000;

/** Makes the folder with the SDK in it, once. @returns why there is none */
export function preparePython(): string | undefined {
  const installed = ["-c", `import importlib.metadata as m; assert m.version("adcp") == "${SDK.split("==")[1]}"`];
  if (existsSync(sdkPython) && spawnSync(sdkPython, installed, { timeout: INSTALL_LIMIT_MS }).status === 0)
    return undefined;
  console.error(`installing ${SDK} under .cache/`);
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", folder]],
    [sdkPython, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SDK]],
  ];
  for (const [command, given] of steps) {
    const { status, error, stderr } = spawnSync(command, given, { timeout: INSTALL_LIMIT_MS, encoding: "utf8" });
    const said = stderr?.trim().split("\n").at(-1) ?? "";
    if (status !== 0) return `${command} ${given.slice(0, 2).join(" ")}: ${error?.message ?? said}`;
  }
  return undefined;
}

type Answer = { readonly ok: true; readonly headers?: Record<string, string> } | { ok: false; reason: string };

export interface PythonPeer extends SigningPeer {
  /** Verifies a webhook knowing nothing but the agent's URL. @returns undefined where it is believed */
  discover(request: PlainRequest, agent: string, protocol: "mcp" | "a2a"): Promise<string | undefined>;
}

/** Asks one question. */
export type Talk = (question: object) => Promise<{ readonly ok: boolean; readonly [more: string]: unknown }>;

/**
 * Serves with a script of the SDK's side while a job lasts.
 * @param args after the port
 * @throws Error with what it said, where it does not listen
 */
export async function servedByPython<T>(
  script: string,
  args: readonly string[],
  job: (url: string) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const child = spawn(sdkPython, [script, String(port), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const started = new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said = (said + chunk).slice(-4_000);
      if (said.includes("Application startup complete")) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(`the server does not start: ${said}`)));
    setTimeout(() => reject(new Error(`it does not listen: ${said}`)), START_LIMIT_MS).unref();
  });
  try {
    await started;
    return await job(`http://127.0.0.1:${port}`);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Starts a script of the SDK's side. @throws Error where it does not start */
export async function talkPython(script: string, args: readonly string[] = []) {
  const child = spawn(sdkPython, ["-u", script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ask = conversation(child);
  const { name } = JSON.parse(await ask()) as { name: string };
  return {
    name,
    ask: (async (question) => JSON.parse(await ask(question))) as Talk,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** The lines a process prints, one for each question, in their order. */
function conversation(child: ChildProcess): (question?: object) => Promise<string> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async (question) => {
    if (question !== undefined) child.stdin!.write(`${JSON.stringify(question)}\n`);
    const limit = setTimeout(() => child.kill(), ANSWER_LIMIT_MS);
    try {
      const { value, done } = await lines.next();
      if (done) throw new Error("the Python peer ended, or took too long");
      return value;
    } finally {
      clearTimeout(limit);
    }
  };
}

/**
 * @param certificate file of the authority that the peer is to trust, beside no other
 * @throws Error where it does not start
 */
export async function pythonPeer(certificate?: string): Promise<PythonPeer> {
  const child = spawn(sdkPython, ["-u", path.join(import.meta.dirname, "peer.py")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...(certificate !== undefined && { SSL_CERT_FILE: certificate }) },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ask = conversation(child);
  const answer = async (question: object): Promise<Answer> => JSON.parse(await ask(question)) as Answer;
  const verdict = (given: Answer): string | undefined => (given.ok ? undefined : given.reason);
  const { name } = JSON.parse(await ask()) as { name: string };
  return {
    name,
    lacks: {},
    departures: [],
    async sign(what: Signable, request: PlainRequest, key: Jwk) {
      const given = await answer({ do: "sign", what, request, key });
      return given.ok ? { ok: true, headers: given.headers! } : given;
    },
    verify: async (what, request, key) => verdict(await answer({ do: "verify", what, request, key })),
    discover: async (request, agent, protocol) => verdict(await answer({ do: "discover", request, agent, protocol })),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
