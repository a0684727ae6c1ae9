/** `adbind deliver`: what another program has stored is sent, whoever hands it out. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as deliver } from "../../cli/deliver.js";
import { serveDeliverHealth } from "../../cli/deliver-health.js";
import { register as keys } from "../../cli/keys.js";
import { release } from "../../generated/3.1.0/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { start } from "../sender/sender-suite.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { startRelay } from "../support/relay.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const { folder, at, remove } = commandFolder();
const main = path.resolve(import.meta.dirname, "../../cli/main.ts");

await runCommand(keys, ["generate", "--use", "webhook", "--word", "proto", "--out", "keys.json"]);

test("what is missing is said before anything is opened", async () => {
  delete process.env.ADBIND_STORE;
  const refused = async (...argv: string[]) => {
    const { code, err } = await runCommand(deliver, argv);
    assert.ok(code > 0, err);
    return err;
  };
  const key = ["--key", "keys.json"];
  assert.match(await refused("--database", "sqlite:a.db"), "nothing to sign with");
  assert.match(await refused(...key), "no database is named");
  const bad = await refused(...key, "--database", "sqlite:a.db", "--queue", "http://user:pass@a");
  assert.match(bad, "nats://host:4222");
  assert.not.match(bad, "pass");
});

test("a key of another protocol is refused before anything is signed with it", async () => {
  await runCommand(keys, ["generate", "--use", "webhook", "--word", "ads", "--out", "ads.json"]);
  const { code, err } = await runCommand(deliver, ["--key", "ads.json", "--database", `sqlite:${at("a.db")}`]);
  assert.equal([code, /the key is for ads, and what is delivered is of proto/.test(err)], [2, true], err);
});

/** A receiver of events. */
async function receiver(): Promise<{ readonly server: Server; readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      seen.push(`${JSON.parse(text).message} ${request.headers.signature === undefined ? "unsigned" : "signed"}`);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

async function ended(child: ChildProcess): Promise<number | null> {
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  return gone;
}

/** What a deliverer says of itself, at the address it printed. */
async function answers(said: string): Promise<object> {
  const at = /http:[^ ]+(?=\/healthz)/.exec(said)![0];
  const text = async (path: string) => (await fetch(`${at}/${path}`)).text();
  const delivered = /adbind_sender_attempts_total\{[^}]*\} (\d+)/.exec(await text("metrics"))?.[1];
  return {
    healthz: (await fetch(`${at}/healthz`)).status,
    readyz: await text("readyz"),
    delivered: Number(delivered),
  };
}

test("a deliverer without a database that answers is not ready, nor is one that ends", async () => {
  const read = async () => "";
  for (const [databases, expected] of [
    [[false], 503],
    [[false, true], 200],
  ] as const) {
    const answering = async () => databases;
    const health = await serveDeliverHealth({ answering, metrics: { read }, host: "127.0.0.1", port: 0 });
    const ready = async () => (await fetch(`${health.address}/readyz`)).status;
    assert.is(await ready(), expected);
    health.drain();
    assert.is(await ready(), 503);
    assert.is((await fetch(`${health.address}/healthz`)).status, 200);
    assert.is((await fetch(`${health.address}/other`)).status, 404);
    await health.close();
  }
});

const postgres = await sharedPostgres();

/** As another language stores an event. */
async function stored(place: string, url: string, message: string): Promise<void> {
  const store = await openPostgresStore({ url: place });
  const net = { allowHttp: true, allowLoopback: true };
  const sender = await createSender({
    store,
    release,
    net,
    signerFor: () => Promise.reject(new Error("nothing is sent here")),
  });
  await sender.tasks.register(start(), { push: { url, operation_id: "o" } });
  await store.pool.query("select adbind_enqueue('task-1', 'working', message => $1)", [message]);
  await sender.stop();
  await store.close();
}

/** @param argv beside the key */
function deliverer(argv: readonly string[], env: NodeJS.ProcessEnv) {
  const given = ["deliver", "--key", at("keys.json"), "--local", "--log-level", "error", ...argv];
  const child = spawn(process.execPath, [...fromSource, main, ...given], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  return { child, said: () => said };
}

test("a database that is away as a deliverer starts keeps no other's events, and is delivered from when it is back", async () => {
  const { server, url, seen } = await receiver();
  const [there, away] = [await postgres.database(), await postgres.database()];
  await stored(there, url, "there");
  await stored(away, url, "away");
  const relay = await startRelay(Number(new URL(away).port));
  relay.freeze();
  const behind = Object.assign(new URL(away), { port: String(relay.port), search: "connect_timeout=1" }).href;
  const { child, said } = deliverer(["--health-port", "0"], { ADBIND_STORE: `${behind} ${there}` });
  try {
    await until(
      () => seen.length === 1 && said().includes("/healthz") && said().includes("2 databases"),
      () => `one event; it said: ${said()}`,
    );
    assert.equal(seen, ["there signed"]);
    assert.equal(((await answers(said())) as { readyz: string }).readyz, '{"status":"ok","databases":2,"away":1}');
    relay.thaw();
    await until(
      () => seen.length === 2,
      () => `the other; it said: ${said()}`,
    );
    assert.equal(seen[1], "away signed");
    assert.is(await ended(child), 0, said());
  } finally {
    child.kill("SIGKILL");
    server.close();
    server.closeAllConnections();
    await relay.close();
  }
});

for (const by of ["the database", "nats"] as const)
  test(`what another language has stored in two databases is delivered, handed out by ${by}`, async () => {
    if (by === "nats" && !hasNats()) return console.log(NO_NATS);
    const nats = by === "nats" ? await startNats() : undefined;
    const { server, url, seen } = await receiver();
    const places = [await postgres.database(), await postgres.database()];
    for (const [n, place] of places.entries()) await stored(place, url, `of ${n}`);
    // By option, or by the environment.
    const databases = nats ? places.flatMap((place) => ["--database", place]) : [];
    const queue = nats === undefined ? [] : ["--queue", nats.url];
    const { child, said } = deliverer([...databases, ...queue, "--health-port", "0"], {
      ADBIND_STORE: nats ? "" : places.join(" "),
    });
    try {
      // Events may be here before what it says is.
      await until(
        () =>
          seen.length === 2 && said().includes("/healthz") && said().includes("delivering what waits in 2 databases"),
        () => `two events; it said: ${said()}`,
      );
      assert.equal(seen.sort(), ["of 0 signed", "of 1 signed"]);
      const readyz = '{"status":"ok","databases":2,"away":0}';
      const expected = { healthz: 200, readyz, delivered: 2 };
      // Asked within a second, a database of a busy machine may be away.
      await until(async () => ((await answers(said())) as typeof expected).readyz === readyz);
      assert.equal(await answers(said()), expected);
      assert.is(await ended(child), 0, said());
    } finally {
      // What fails here is to end the run, not to hold it up.
      child.kill("SIGKILL");
      server.close();
      server.closeAllConnections();
      await nats?.stop();
    }
  });

test.after(async () => {
  await postgres.stop();
  remove();
});
test.run();
