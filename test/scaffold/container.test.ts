/** A seller from a packed adbind: its Dockerfile's commands, run as a shell has them, and a newer adbind that brings what was mended. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Tarballs } from "../../cli/dev/pack/weigh.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { compiler } from "../runner/compiler.js";
import { packed, quietNpm, staged, unpack } from "../support/packed.js";
import { tempFolder } from "../support/release.js";
import { proves } from "../support/turns.js";
import { until } from "../support/until.js";
import { root } from "./project.js";

interface Container {
  readonly folder: string;
  /** What it is started with. */
  readonly command: readonly string[];
  readonly healthy: string;
}

/** Words of a Dockerfile that nothing is done for here. */
const OTHER = ["", "FROM", "WORKDIR", "USER", "EXPOSE"];

/** Does what a Dockerfile says to a folder beside the project, so that paths of package.json still lead somewhere. */
function built(project: string): Container {
  const folder = `${project}-image`;
  mkdirSync(folder);
  let [command, healthy]: [string[], string] = [[], ""];
  for (const line of readFileSync(path.join(project, "Dockerfile"), "utf8").split("\n")) {
    const [, word = "", rest = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (word === "COPY") {
      const places = rest.split(" ");
      const to = places.pop()!;
      execFileSync("sh", ["-c", `cp -r ${places.join(" ")} "${path.join(folder, to)}"`], { cwd: project });
    } else if (word === "RUN") execFileSync("sh", ["-ec", rest], { cwd: folder, stdio: "pipe" });
    else if (word === "CMD") command = JSON.parse(rest) as string[];
    else if (word === "HEALTHCHECK") healthy = rest.replace(/^CMD /, "");
    else assert.ok(OTHER.includes(word), line);
  }
  return { folder, command, healthy };
}

/** Gives a staged package another version, and another adbind to depend on. */
function versioned(manifest: string, version: string): void {
  const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  const own = dependencies.adbind === undefined ? {} : { adbind: version };
  writeFileSync(manifest, JSON.stringify({ ...rest, version, dependencies: { ...dependencies, ...own } }));
}

/** Has a project install the packages from tarballs. */
function installing(manifest: string, tarballs: Tarballs): void {
  const project = JSON.parse(readFileSync(manifest, "utf8"));
  project.dependencies.adbind = `file:${tarballs.adbind}`;
  project.devDependencies["adbind-cli"] = `file:${tarballs["adbind-cli"]}`;
  writeFileSync(manifest, JSON.stringify(project));
}

type Environment = Readonly<Record<string, string>>;

function started(
  { folder, command }: Container,
  environment: Environment,
): { child: ChildProcess; said: () => string } {
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => (text += chunk));
  return { child, said: () => text };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null ? Promise.resolve(child.exitCode) : new Promise((resolve) => child.once("exit", resolve));

async function production(folder: string): Promise<Environment> {
  const { privateKey } = generateKeyPairSync("ed25519");
  // A key of somebody else's making, bare: what the commands of ours make, compose.test.ts tries.
  const key = { ...privateKey.export({ format: "jwk" }), kid: "k1", alg: "EdDSA", use: "sig" };
  writeFileSync(path.join(folder, "signing-key.json"), JSON.stringify(key));
  return {
    ...{ MODE: "production", BASE_URL: "https://seller.example", PORT: `${await freePort()}`, DATA: folder },
    ...{ SIGNING_KEY: path.join(folder, "signing-key.json"), TOKENS: '{"a-long-random-token":"first-buyer"}' },
  };
}

/** Runs it until it is healthy, and ends it as whatever runs containers does. */
async function served(container: Container, environment: Environment, work: (at: string) => Promise<void>) {
  const { child, said } = started(container, environment);
  try {
    await until(async () => said().includes("/mcp") || child.exitCode !== null, said, { limitMs: 60_000 });
    assert.is(child.exitCode, null, said());
    const env = { PATH: process.env.PATH!, ...environment };
    assert.is(spawnSync("sh", ["-c", container.healthy], { cwd: container.folder, env }).status, 0);
    await work(`http://127.0.0.1:${environment.PORT}`);
  } finally {
    child.kill("SIGTERM");
  }
  assert.is(await ended(child), 0, said());
}

test("the project's Dockerfile says nothing that is not tried, is not root, and is asked how it is", () => {
  const lines = readFileSync(path.join(root, "templates/project/Dockerfile"), "utf8").split("\n");
  const words = lines.map((line) => /^(\w+) /.exec(line)?.[1] ?? "");
  assert.equal(
    words.filter((word) => !["COPY", "RUN", "CMD", "HEALTHCHECK", ...OTHER].includes(word)),
    [],
  );
  for (const word of ["USER", "HEALTHCHECK", "CMD"]) assert.ok(words.includes(word), word);
});

if (proves("a seller's container"))
  test("a container of it is closed, healthy and drained; a newer adbind brings what was mended, and no line of its own changes", async () => {
    const stage = staged(compiler());
    const first = packed(stage);
    const folder = tempFolder();
    const bin = path.join(unpack(first, folder), "dist/cli/bin.js");
    const project = path.join(folder, "shop");
    const args = [
      "--specialism",
      "sales_guaranteed",
      "--release",
      path.join(root, "manifests/3.1.0"),
      "--adbind",
      first.adbind,
    ];
    execFileSync(process.execPath, [bin, "new", "seller", project, ...args], { stdio: "pipe" });
    const container = built(project);
    const environment = await production(folder);
    for (const [name, said] of [
      ["TOKENS", /auth/],
      ["SIGNING_KEY", /key/],
      ["BASE_URL", /https/],
    ] as const) {
      const { [name]: _, ...rest } = environment;
      const open = started(container, rest);
      assert.is(await ended(open.child), 1, name);
      assert.match(open.said(), said);
    }
    await served(container, environment, async (at) => {
      const answer = await fetch(`${at}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      assert.ok([400, 401].includes(answer.status));
      assert.is((await fetch(`${at}/metrics`)).status, 404, "nobody was given its token");
    });
    const sources = () =>
      readdirSync(path.join(container.folder, "src")).map((file) =>
        readFileSync(path.join(container.folder, "src", file), "utf8"),
      );
    const before = sources();
    // A newer adbind, in which something was mended.
    for (const one of Object.values(stage)) versioned(path.join(one, "package.json"), "0.1.999");
    const mended = path.join(stage.adbind, "dist/runtime/behaviours/health.js");
    writeFileSync(mended, readFileSync(mended, "utf8").replace('{ status: "ok" }', '{ status: "better" }'));
    const second = packed(stage);
    installing(path.join(container.folder, "package.json"), second);
    execFileSync("npm", ["install", "--omit=dev", ...quietNpm], { cwd: container.folder, stdio: "pipe" });
    await served(container, environment, async (at) => {
      assert.equal(await (await fetch(`${at}/healthz`)).json(), { status: "better" });
    });
    assert.equal(sources(), before);
  });

test.run();
