/** A scaffolded seller as its project serves it, behind TLS, as callers reach it. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { newSeller } from "../../generator/scaffold/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { linked } from "../scaffold/project.js";
import { terminator, tls } from "../support/tls-terminator.js";

/** What the runner itself presents; the kits' keys are the same caller's. */
export const RUN_TOKEN = "conformance-run-credential-0001";

/** Longest a seller may take to start, in milliseconds: on a busy machine the sources are compiled for a while. */
const START_MS = 120_000;

/** Stands for the platforms that ports tell: it takes everything. */
async function platform(): Promise<{ url: string; close: () => void }> {
  const server = createHttpServer((incoming, outgoing) => {
    incoming.resume().on("end", () => outgoing.end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** A folder in which projects find adbind. */
export const projectsFolder = (parent: string): string => linked(mkdtempSync(path.join(parent, "adbind-conformance-")));

/** Writes the project of a seller, once. @param beside areas that stand in no specialism */
export async function scaffold(
  projects: string,
  release: string,
  specialism: string,
  beside: readonly string[] = [],
): Promise<string> {
  const name = [path.basename(release), specialism, ...beside].join("-").replaceAll(".", "-");
  const folder = path.join(projects, name);
  if (!existsSync(folder))
    await newSeller({ folder, release, specialisms: [specialism], with: beside, partial: false });
  return folder;
}

export interface ServedSeller {
  readonly url: string;
  stop(): Promise<void>;
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** A project's own `npm start`. @throws Error with what the seller said, where it does not start */
export async function startSeller(folder: string, env: NodeJS.ProcessEnv): Promise<ServedSeller> {
  const port = Number(env.PORT ?? (await freePort()));
  const child = spawn(process.execPath, [...fromSource, "src/serve.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA: mkdtempSync(path.join(folder, "data-")), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const started = new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said += chunk;
      if (/^http\S+\/mcp$/m.test(said)) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(said.slice(-2000))));
    setTimeout(
      () => reject(new Error(`it does not listen within ${START_MS / 1000} s: ${said.slice(-1000)}`)),
      START_MS,
    ).unref();
  });
  try {
    await started;
  } catch (error) {
    await ended(child);
    throw error;
  }
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => ended(child) };
}

/** The same behind TLS, with callers' credentials and platforms that it may tell. @throws Error as it does */
export async function serveSeller(folder: string, env: Readonly<Record<string, string>> = {}): Promise<ServedSeller> {
  const port = await freePort();
  const front = await terminator(port);
  const told = await platform();
  const base = `https://localhost:${front.port}`;
  const keys = [
    RUN_TOKEN,
    ...["acme-outdoor", "nova-motors", "summit-foods", "osei-natural", "bistro-oranje"].map((kit) => `demo-${kit}-v1`),
  ];
  const tokens = { ...Object.fromEntries(keys.map((key) => [key, "runner"])), "demo-acme-outdoor-live-v1": "live" };
  const close = (): void => {
    front.close();
    told.close();
  };
  try {
    const { stop } = await startSeller(folder, {
      PORT: String(port),
      BASE_URL: base,
      TOKENS: JSON.stringify(tokens),
      NODE_EXTRA_CA_CERTS: tls.certFile,
      SIGNALS_URL: told.url,
      CREATIVES_URL: told.url,
      AD_SERVER_URL: told.url,
      EVENTS_URL: told.url,
      AUDIENCES_URL: told.url,
      ...env,
    });
    return {
      url: `${base}/mcp`,
      async stop() {
        close();
        await stop();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
