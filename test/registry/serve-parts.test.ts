/** `adbind registry serve` as a part of the search's index, and as an instance that asks it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openSqliteStore } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { until } from "../support/until.js";
import { TOKEN } from "./search-parts.js";
import { bearer, setupRegistry } from "./server-fixture.js";
import { SELLER, seedWorld } from "./server-world.js";

const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "adbind-serve-parts-"));
const file = path.join(folder, "registry.db");
const running: ChildProcess[] = [];

const command = (more: readonly string[]): string[] => [
  ...[...fromSource, path.join(root, "cli/main.ts"), "registry", "serve", "--store", `sqlite:${file}`],
  ...["--port", "0", "--log-level", "silent", "--drain", "0", ...more],
];
const env = { ...process.env, ADBIND_REGISTRY_SEARCH_TOKEN: TOKEN };

/** @returns its address */
async function serve(...more: string[]): Promise<string> {
  const child = spawn(process.execPath, command(more), { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  let said = "";
  for await (const chunk of child.stdout!) {
    said += chunk;
    if (said.includes("\n")) break;
  }
  return /registry +(http:\S+)/.exec(said)![1]!;
}

test.after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("an instance answers from the part that another process holds, and ends well", async () => {
  const store = openSqliteStore({ path: file });
  const setup = await setupRegistry({ store, now: Date.now });
  const { id } = await setup.accounts.addOrganization({ name: "O" });
  const { key } = await setup.accounts.addKey(id, "k");
  await seedWorld(setup.registry.data, id);
  await setup.close();
  await store.close();

  const part = await serve("--search-part", "1/1");
  const instance = await serve("--search-parts", part, "--crawl", "off");
  const ready = async (): Promise<{ status: string; search_parts: object[] }> =>
    (await fetch(`${instance}/readyz`)).json() as Promise<{ status: string; search_parts: object[] }>;
  await until(async () => (await ready()).status === "ready", "the instance has seen that its part is ready");
  assert.is((await ready()).search_parts.length, 1);
  const found = await fetch(`${instance}/api/registry/agents/search`, { headers: bearer(key) });
  assert.match(await found.text(), SELLER);
  assert.is((await fetch(`${part}/api/registry/stats`)).status, 404, "a part serves nothing else");
  for (const child of running) {
    child.kill("SIGTERM");
    await until(() => child.exitCode !== null, "it ends");
    assert.is(child.exitCode, 0);
  }
});

test("a token that is too short ends the command", () => {
  const short = { ...env, ADBIND_REGISTRY_SEARCH_TOKEN: "short" };
  const { status, stderr } = spawnSync(process.execPath, command(["--search-part", "1/1"]), {
    ...{ cwd: root, env: short, encoding: "utf8" },
  });
  assert.is(status, 2);
  assert.match(stderr, "16 printable characters or more");
});

test.run();
