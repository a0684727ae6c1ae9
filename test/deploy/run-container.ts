/** A container's command as a process on this machine: its programs, secrets and places are stand-ins of a temporary folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { type Container, folder as deployFolder, type Environment } from "./deploy-files.js";

const root = path.resolve(import.meta.dirname, "../..");

export interface Machine {
  readonly folder: string;
  /** What a secret's key is here, by its name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Hosts that only a cluster has, and what stands for them. */
  readonly hosts: Readonly<Record<string, string>>;
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** A folder with `adbind`, `node` and `sleep` as an image has them, and files where secrets are mounted. */
export function machine(
  given: Pick<Machine, "secrets" | "hosts"> & { readonly files: Readonly<Record<string, string>> },
): Machine {
  const folder = tempFolder();
  const program = (name: string, line: string): void => {
    writeFileSync(path.join(folder, "bin", name), `#!/bin/sh\n${line}\n`);
    chmodSync(path.join(folder, "bin", name), 0o755);
  };
  for (const name of ["bin", "secrets", "data"]) mkdirSync(path.join(folder, name));
  const node = quoted([process.execPath, ...fromSource]);
  program("node", `exec ${node} "$@"`);
  program("sh", 'exec /bin/sh "$@"');
  program("adbind", `exec ${node} ${quoted([path.join(root, "cli/main.ts")])} "$@"`);
  // A loop that sleeps a day between its turns has shown all it does.
  program("sleep", "kill -TERM $PPID");
  for (const [name, text] of Object.entries(given.files)) writeFileSync(path.join(folder, "secrets", name), text);
  return { ...given, folder };
}

const replaced = (text: string, { folder, hosts }: Machine): string =>
  Object.entries(hosts)
    .reduce((all, [host, here]) => all.replaceAll(host, here), text)
    .replaceAll(/\/run\/secrets\/(?:adbind\/)?/g, `${folder}/secrets/`)
    .replaceAll("/data/", `${folder}/data/`);

/** `$(NAME)` is put in by Kubernetes before the process starts. */
const expanded = (text: string, environment: Environment): string =>
  text.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => environment[name] ?? whole);

export interface Started {
  readonly child: ChildProcess;
  /** Where the container listens: its probes are asked there. */
  readonly port: number;
  /** What it has written so far. */
  said(): string;
  /** @returns the exit code */
  readonly ended: Promise<number | null>;
}

function environmentOf(container: Container, config: Environment, { secrets }: Machine): Environment {
  const own = (container.env ?? []).map(({ name, value, valueFrom }): [string, string | undefined] => {
    if (value !== undefined) return [name, value];
    const { secretKeyRef, fieldRef } = valueFrom as { secretKeyRef?: { name: string; key: string }; fieldRef?: object };
    // The first pod of its kind.
    if (fieldRef !== undefined) return [name, "0"];
    return [name, secrets[`${secretKeyRef?.name}.${secretKeyRef?.key}`]];
  });
  return { ...config, ...Object.fromEntries(own) };
}

const running = new Set<ChildProcess>();

/** Ends what a test that failed has left. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Settings that only make a test wait: pauses for proxies that are not here. */
const AT_ONCE = { ADBIND_REGISTRY_DRAIN: "0", DRAIN_SECONDS: "0" };

/** Starts a container's command with its environment. @param config what its config maps hold */
export async function start(container: Container, config: Environment, here: Machine): Promise<Started> {
  const port = await freePort();
  const environment = environmentOf(container, config, here);
  const [program, ...args] = container.command!.map((one) => replaced(expanded(one, environment), here));
  const own = String(container.ports?.[0]?.containerPort);
  const env = Object.entries(environment).map(([name, value = ""]) => [
    name,
    replaced(expanded(value, environment), here),
  ]);
  const child = spawn(
    path.join(here.folder, "bin", program!),
    args.map((one) => (one === own ? String(port) : one)),
    {
      cwd: program === "node" ? deployFolder : here.folder,
      env: {
        ...process.env,
        ...Object.fromEntries(env),
        ...AT_ONCE,
        PORT: String(port),
        ADBIND_REGISTRY_PORT: String(port),
        PATH: `${path.join(here.folder, "bin")}:${process.env.PATH}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  running.add(child);
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, port, said: () => text, ended };
}

const statusAt = (port: number, place: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${place}`).then(
    ({ status }) => status,
    () => 0,
  );

/** Until the container's own probes are answered; then it is told to end, and has to, without a fault. */
export async function provesItself(container: Container, started: Started): Promise<number | null> {
  const { port, said, child } = started;
  let gone = false;
  child.once("exit", () => {
    gone = true;
  });
  for (const probe of [container.readinessProbe, container.livenessProbe])
    await until(
      async () => gone || (await statusAt(port, probe!.httpGet!.path)) === 200,
      () => `${probe!.httpGet!.path} of ${container.name}; it said: ${said()}`,
    );
  if (gone) throw new Error(`${container.name} ended by itself: ${said()}`);
  child.kill("SIGTERM");
  return started.ended;
}
