/** One table of settings: docs, help and what is refused all come from it. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { configurationPage, envOf, readConfig } from "../../runtime/registry/server/config.js";
import { configTable } from "../../runtime/registry/server/config-table.js";
import { fromSource } from "../runner/from-source.js";
import { until } from "../support/until.js";

const root = path.resolve(import.meta.dirname, "../..");

test("the documented table is the one in the code", () => {
  const file = path.join(root, "docs/registry-configuration.md");
  assert.is(readFileSync(file, "utf8"), configurationPage(), "write docs/registry-configuration.md anew");
});

test("without any configuration everything has a value", () => {
  const config = readConfig({}, {});
  assert.is(config.store, "sqlite:registry.db");
  assert.is(config.port, 8080);
  assert.is(config.baseUrl, undefined);
  assert.is(config.limits.publisher, 20);
  assert.equal(config.issuers, []);
});

test("a flag wins over the environment, an empty variable is none", () => {
  const env = { ADBIND_REGISTRY_PORT: "9000", ADBIND_REGISTRY_HOST: "", ADBIND_REGISTRY_LIMIT_READS: "7" };
  const config = readConfig({ port: "9001" }, env);
  assert.is(config.port, 9001);
  assert.is(config.host, "127.0.0.1");
  assert.is(config.limits.reads, 7);
});

test("what a cluster says of a service of the same name is no setting", () => {
  const env = {
    ADBIND_REGISTRY_PORT: "tcp://10.0.0.7:8080",
    ADBIND_REGISTRY_SERVICE_HOST: "10.0.0.7",
    ADBIND_REGISTRY_PORT_8080_TCP_ADDR: "10.0.0.7",
  };
  assert.is(readConfig({}, env).port, 8080);
});

test("everything that is wrong is named at once, and never a password", () => {
  const given = {
    port: "70000",
    crawl: "maybe",
    "log-level": "loud",
    "issuer-algorithms": "HS256",
    "limit-bulk": "-1",
  };
  const env = { ADBIND_REGISTRY_TYPO: "1" };
  try {
    readConfig(given, env);
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof AdbindError);
    assert.is(error.code, "registry_option_invalid");
    for (const part of ["--port", "--crawl", "--log-level", "HS256", "--limit-bulk", "ADBIND_REGISTRY_TYPO"])
      assert.match(error.message, part);
  }
});

test("a process holds a part of the search's index or asks for parts, and needs the token for either", () => {
  const wrong = (flags: Record<string, string>): string => {
    try {
      readConfig(flags, {});
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const secret = "a-secret-of-parts";
  const token = { "search-token": secret };
  const parts = { "search-parts": "http://a:1, http://b:2" };
  assert.equal(readConfig({ ...parts, ...token, "search-deadline": "300" }, {}).searchParts, {
    urls: ["http://a:1", "http://b:2"],
    token: secret,
    deadlineMs: 300,
  });
  assert.is(readConfig({ "search-part": "2/4", ...token }, {}).searchPart, "2/4");
  assert.is(readConfig(token, {}).searchParts, undefined);
  assert.match(wrong({ "search-part": "2/4" }), "need a --search-token");
  assert.match(wrong(parts), "need a --search-token");
  assert.match(wrong({ ...parts, ...token, "search-part": "1/2" }), "a process does one of both");
  assert.match(wrong({ ...parts, ...token, search: "postgres" }), "exclude each other");
  for (const part of ["0/4", "5/4", "1", "1/65", "1/4/2", "x"])
    assert.match(wrong({ "search-part": part, ...token }), `--search-part ${part} is not which of how many`);
  assert.not(wrong({ "search-part": "x", ...token }).includes(secret));
});

const adbind = (args: string[], cwd: string, env: Record<string, string> = {}) => {
  const flags = [...fromSource, path.join(root, "cli/main.ts")];
  return {
    command: process.execPath,
    args: [...flags, ...args],
    options: { cwd: root, env: { ...process.env, ...env, ADBIND_CWD: cwd } },
  };
};

test("help lists every setting with its variable", () => {
  const { command, args, options } = adbind(["registry", "serve", "--help"], root);
  const { stdout, status } = spawnSync(command, args, { ...options, encoding: "utf8" });
  assert.is(status, 0);
  for (const entry of configTable) {
    assert.match(stdout, `--${entry.name} `);
    assert.match(stdout.replace(/\s+/g, " "), envOf(entry));
  }
});

test("a bad configuration ends the command and says why", () => {
  const { command, args, options } = adbind(["registry", "serve", "--port", "x"], root);
  const { stderr, status } = spawnSync(command, args, { ...options, encoding: "utf8" });
  assert.is(status, 2);
  assert.match(stderr, "--port x is no whole number");
  const bad = adbind(["registry", "serve", "--store", "mysql://u:secret@h/d"], root);
  const refused = spawnSync(bad.command, bad.args, { ...bad.options, encoding: "utf8" });
  assert.is(refused.status, 2);
  assert.match(refused.stderr, "the store's URL is of no kind adbind knows");
  assert.not(refused.stderr.includes("secret"));
});

test("the first start works with nothing set, answers, and ends well on SIGTERM", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-serve-"));
  const { command, args, options } = adbind(
    ["registry", "serve", "--port", "0", "--drain", "3", "--crawl", "off"],
    folder,
  );
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  try {
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("curl -H")) break;
    }
    const address = /registry +(http:\S+)/.exec(said)![1]!;
    const ready = (await (await fetch(`${address}/readyz`)).json()) as { status: string };
    assert.is(ready.status, "ready");
    const issued = (await (await fetch(`${address}/.well-known/oauth-protected-resource/api`)).json()) as {
      resource: string;
    };
    assert.is(issued.resource, `${address.replace("127.0.0.1", "localhost")}/api`);
    const taken = adbind(["registry", "serve", "--port", new URL(address).port, "--store", "sqlite:other.db"], folder);
    const second = spawnSync(taken.command, taken.args, { ...taken.options, encoding: "utf8" });
    assert.is(second.status, 1);
    assert.match(second.stderr, "is taken: choose another --port or --host");
    const lookup = await fetch(`${address}/api/registry/publisher?domain=example.com`);
    assert.is(lookup.status, 200);
    assert.ok(existsSync(path.join(folder, "registry.db")));
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await until(async () => (await fetch(`${address}/readyz`)).status === 503, "it says that it is about to go");
    assert.equal(await ended, [0, null]);
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
