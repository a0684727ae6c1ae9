/** One SQLite file has one registry, and who comes second is told; it is nobody's any more when a process is gone, however it went. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";
import { until } from "../support/until.js";

const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "adbind-sole-"));
const running: ChildProcess[] = [];
const flags = (store: string, ...more: string[]) => [
  ...[...fromSource, path.join(root, "cli/main.ts"), "registry", "serve", "--port", "0", "--crawl", "off"],
  ...["--drain", "1", "--store", `sqlite:${store}`, ...more],
];
const options = { cwd: root, env: { ...process.env, ADBIND_CWD: folder } };

/** A registry on the file, and what it has said so far. */
function serving(store: string, ...more: string[]): { child: ChildProcess; said: () => string } {
  const child = spawn(process.execPath, flags(store, ...more), { ...options, stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => (text += String(chunk)));
  return { child, said: () => text };
}

test.after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("a second registry on a file is refused, under whatever name it has the file, and the first goes on", async () => {
  const first = serving("registry.db");
  await until(() => first.said().includes("curl -H"), "it serves");
  symlinkSync(path.join(folder, "registry.db"), path.join(folder, "link.db"));
  const second = spawnSync(process.execPath, flags("link.db"), { ...options, encoding: "utf8" });
  assert.is(second.status, 1, second.stdout);
  assert.match(second.stderr, "waits for the registry that serves from this file");
  assert.match(second.stderr, /another process is the registry of this file .*link\.db.*PostgreSQL/);
  const address = /registry +(http:\S+)/.exec(first.said())![1]!;
  assert.is((await fetch(`${address}/readyz`)).status, 200);
});

test("one that waits while another drains takes over; one after a kill -9 starts at once", async () => {
  const [first] = running;
  const next = serving("registry.db");
  await until(() => next.said().includes("waits for the registry"), "it waits");
  first!.kill("SIGTERM");
  await until(() => next.said().includes("curl -H"), "it serves");
  next.child.kill("SIGKILL");
  await until(() => next.child.signalCode !== null, "it is gone");
  const last = serving("registry.db");
  await until(() => last.said().includes("curl -H"), "it serves");
  assert.not(last.said().includes("waits for the registry"));
});

test("a registry that is started without its public address has the one it was last served at", async () => {
  const pages = async (...more: string[]) => {
    const one = serving("addressed.db", ...more);
    await until(() => one.said().includes("curl -H"), "it serves");
    one.child.kill("SIGTERM");
    await until(() => one.child.exitCode !== null, "it ends");
    return /pages +(\S+)/.exec(one.said())![1]!;
  };
  assert.match(await pages(), "http://localhost:");
  assert.is(await pages("--base-url", "https://registry.example"), "https://registry.example/");
  assert.is(await pages(), "https://registry.example/");
});

test.run();
