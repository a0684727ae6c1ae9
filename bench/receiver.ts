/**
 * The receiver against the least anybody could run in its place: ten minutes on two cores that have nothing else to do.
 * `--short` measures over fewer events, keys and rounds; `--rounds`, `--pruned`, `--keys` and `--events` over so many.
 */
import { spawn } from "node:child_process";
import { verify } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type SignableRequest, verifyWebhook } from "../runtime/signing/index.js";
import { openSqliteStore } from "../runtime/store/index.js";
import { fromSource } from "../test/runner/from-source.js";
import { median } from "./support/measure.js";
import { numberOf, partsOf } from "./support/options.js";
import { progressOf } from "./support/progress.js";
import { keySource, makeKeys, PUBLIC_URL, ROUTE, rawEvent, signedEvent } from "./support/receiver-events.js";
import { CONNECTIONS, httpRows } from "./support/receiver-http.js";
import { keyspaceRows } from "./support/receiver-keyspace.js";
import { pruneRows } from "./support/receiver-prune.js";
import type { Row } from "./support/row.js";

const ROUNDS = 9;
/** As many as end in some minutes; `--events=2000000` for a night's. */
const MEMORY_EVENTS = 500_000;
const MEMORY_EVENTS_SHORT = 50_000;
const KEYS = 10_000_000;
const KEYS_SHORT = 100_000;
/** Sizes of the keyspaces that are compared, of the largest. */
const SIZES = [0.001, 0.01, 0.1, 1];
const PRUNED = 1_000_000;
const PRUNED_SHORT = 50_000;
const MB = 1024 * 1024;

const folder = (): string => mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
const file = (name: string): string => path.join(import.meta.dirname, "support", name);

/** `verifyWebhook` with nonces on disk, 64 at a time, against `crypto.verify` alone. */
async function durableNonces(): Promise<Row[]> {
  const where = folder();
  const { privateKey, jwk } = makeKeys();
  const store = openSqliteStore({ path: path.join(where, "nonces.db") });
  const options = { keys: keySource(jwk), replay: store.replay({ keyCap: 10_000_000 }) };
  const publicKey = { key: jwk as never, format: "jwk" as const };
  const { createPublicKey } = await import("node:crypto");
  const imported = createPublicKey(publicKey);
  const ratios: number[] = [];
  const count = CONNECTIONS * 12;
  const tell = progressOf("nonces");
  for (let round = -2; round < 21; round += 1) {
    const requests: SignableRequest[] = Array.from({ length: count }, () => ({
      ...{ method: "POST", url: PUBLIC_URL + ROUTE },
      ...signedEvent(privateKey),
    }));
    const raws = Array.from({ length: count }, () => rawEvent(privateKey));
    const before = performance.now();
    for (const { base, signature } of raws) if (!verify(null, base, imported, signature)) throw new Error("raw");
    const between = performance.now();
    for (let i = 0; i < count; i += CONNECTIONS) {
      const results = await Promise.all(requests.slice(i, i + CONNECTIONS).map((one) => verifyWebhook(one, options)));
      if (results.some((result) => !result.ok)) throw new Error("not verified");
    }
    const after = performance.now();
    if (round >= 0) ratios.push((between - before) / (after - between));
    if (round % 10 === 0) tell(`round ${round} of 20`);
  }
  await store.close();
  rmSync(where, { recursive: true });
  return [
    {
      name: "verifyWebhook with nonces in SQLite, 64 at once, of raw crypto.verify",
      value: median(ratios),
      unit: "x",
      target: { min: 0.6 },
      floor: { of: "crypto.verify", times: 1 / median(ratios) },
    },
  ];
}

/** Least-squares slope of memory over events, after the first fifth. */
export function slope(samples: readonly { events: number; rss: number }[]): number {
  const warm = samples.slice(Math.floor(samples.length / 5));
  const meanX = warm.reduce((sum, one) => sum + one.events, 0) / warm.length;
  const meanY = warm.reduce((sum, one) => sum + one.rss, 0) / warm.length;
  const over = warm.reduce((sum, one) => sum + (one.events - meanX) * (one.rss - meanY), 0);
  return over / warm.reduce((sum, one) => sum + (one.events - meanX) ** 2, 0);
}

async function memory(events: number): Promise<Row[]> {
  const where = folder();
  const args = [...fromSource, file("receiver-memory.ts"), String(events), path.join(where, "inbox.db")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  rmSync(where, { recursive: true });
  if (code !== 0) throw new Error(`the memory run ended with ${code}`);
  const { samples } = JSON.parse(output) as { samples: { events: number; rss: number }[] };
  return [
    {
      name: "resident memory gained per 100,000 events",
      value: (slope(samples) * 100_000) / MB,
      unit: "MB",
      target: { max: 1 },
      floor: { none: "a difference, and nothing need be gained" },
      note: `${events} events; ${Math.round(samples.at(-1)!.rss / MB)} MB at the end`,
      curves: [
        {
          name: "memory",
          title: "Resident memory of a receiver",
          x: { label: "events handled" },
          y: { label: "resident set, MB" },
          lines: [{ name: "receiver", points: samples.map(({ events: at, rss }) => [at, rss / MB] as const) }],
        },
      ],
    },
  ];
}

/**
 * @param args `--only=http,nonces,prune,keys,memory` for some parts; `--short` for fewer of everything in the long ones, or
 * `--rounds=`, `--pruned=` and `--keys=` (of the largest keyspace), `--events=` for so many; `--engine=sqlite|postgres`
 * for one of them in `prune`
 */
export async function run(args: readonly string[] = []): Promise<Row[]> {
  const short = args.includes("--short");
  const only = partsOf(args);
  const many = (name: string, usual: number, few: number): number => numberOf(args, name) ?? (short ? few : usual);
  const engine = args.find((arg) => arg.startsWith("--engine="))?.slice("--engine=".length);
  const keys = many("keys", KEYS, KEYS_SHORT);
  const parts: Record<string, () => Promise<Row[]>> = {
    http: () => httpRows(many("rounds", ROUNDS, 1)),
    nonces: durableNonces,
    prune: () => pruneRows(many("pruned", PRUNED, PRUNED_SHORT), engine),
    keys: () => keyspaceRows(SIZES.map((share) => Math.round(keys * share))),
    memory: () => memory(many("events", MEMORY_EVENTS, MEMORY_EVENTS_SHORT)),
  };
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only(name)) rows.push(...(await part()));
  }
  return rows;
}
