/**
 * What delivering costs beside signing and posting, how soon an event goes out while a hundred destinations are dead, and
 * whether a backlog of a million changes anything.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createGuardedFetch } from "../runtime/net/index.js";
import { createSender, type Sender } from "../runtime/sender/index.js";
import { openSqliteStore } from "../runtime/store/index.js";
import { fromSource } from "../test/runner/from-source.js";
import { besidePeers } from "./support/beside-peers.js";
import { partsOf } from "./support/options.js";
import type { Row } from "./support/row.js";
import { backlogRows } from "./support/sender-backlog.js";
import { postgresEngine, type SenderEngine, senderOptions, sqliteEngine } from "./support/sender-engines.js";
import { isolationRows } from "./support/sender-isolation.js";
import { loopRate, loopRows } from "./support/sender-loop.js";
import { natsRows } from "./support/sender-nats.js";
import { splitRows } from "./support/sender-split.js";
import { storingRows } from "./support/sender-sqlite.js";

/** Events of a drain. */
const DRAINED = 20_000;
const DRAINED_SHORT = 5_000;
const DEAD = 100;
const OPEN_LOOP_SECONDS = 15;
const BACKLOG = 1_000_000;
const BACKLOG_SHORT = 20_000;

const net = { allowHttp: true, allowLoopback: true };
const message = "x".repeat(1_500);

interface Receiver {
  readonly live: string;
  readonly dead: readonly string[];
  readonly child: ChildProcess;
}

async function startReceiver(silent: number): Promise<Receiver> {
  const file = path.join(import.meta.dirname, "support", "sender-receiver.ts");
  const child = spawn(process.execPath, [...fromSource, file, String(silent)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise<string>((resolve) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (text.includes("\n")) resolve(text);
    });
  });
  const [live, ...dead] = (JSON.parse(line) as number[]).map((port) => `http://127.0.0.1:${port}/hook`);
  return { live: live!, dead, child };
}

const register = (sender: Sender, taskId: string, url: string) =>
  sender.tasks.register(
    { taskId, tool: "create_media_buy", status: "submitted", principal: "p" },
    { push: { url, operation_id: taskId } },
  );

/** Arrivals at a fixed rate whatever comes of them, stored by this process too; half of them for destinations that never answer. */
async function openLoop(engine: SenderEngine, receiver: Receiver, capacity: number): Promise<Row> {
  const delays: number[] = [];
  const made = new Map<string, number>();
  const guarded = createGuardedFetch(net);
  const timed = Object.assign(
    (async (url, given) => {
      if (url === receiver.live) {
        const { task_id: task } = JSON.parse(new TextDecoder().decode(given!.body as Uint8Array)) as {
          task_id: string;
        };
        const at = made.get(task);
        if (at !== undefined) delays.push(performance.now() - at);
        made.delete(task);
      }
      return guarded(url, given);
    }) as typeof guarded,
    { close: () => guarded.close() },
  );
  const { sender, close } = await engine.sender(timed);
  sender.start();
  const rate = capacity / 4;
  const started = performance.now();
  let arrived = 0;
  while (performance.now() - started < OPEN_LOOP_SECONDS * 1_000) {
    const due = Math.floor(((performance.now() - started) / 1_000) * rate);
    const batch: Promise<unknown>[] = [];
    for (; arrived < due; arrived++) {
      const task = `task-${arrived}`;
      const live = arrived % 2 === 0;
      const url = live ? receiver.live : receiver.dead[(arrived >> 1) % receiver.dead.length]!;
      batch.push(
        Promise.resolve(register(sender, task, url)).then(() => {
          if (live) made.set(task, performance.now());
          return sender.tasks.update(task, { status: "working", message });
        }),
      );
    }
    await Promise.all(batch);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const missing = made.size;
  // Stopping waits for the silent ones, ten seconds at most.
  await sender.stop();
  await guarded.close();
  await close();
  delays.push(...Array<number>(missing).fill(Number.POSITIVE_INFINITY));
  delays.sort((a, b) => a - b);
  const at = (share: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN;
  const note = `p50 ${Math.round(at(0.5))} ms, ${delays.length} events to a living one, ${missing} unsent; ${Math.round(arrived / OPEN_LOOP_SECONDS)} arrivals/s`;
  return {
    name: `first attempt with ${DEAD} dead destinations, ${engine.name}, p99`,
    value: at(0.99),
    unit: "ms",
    target: { max: 1_000 },
    floor: { none: "waiting behind others at a quarter of what is drained" },
    note,
  };
}

async function storing(whole: boolean): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  let count = 0;
  const rows = await storingRows({
    events: whole ? 2_000 : 500,
    message,
    async open() {
      const store = openSqliteStore({ path: path.join(folder, `${count++}.db`) });
      return { store, close: () => store.close() };
    },
    sender: (store) => createSender({ ...senderOptions(), store }),
    register: async (sender, task) => register(sender, task, "https://buyer.example/hook"),
  });
  rmSync(folder, { recursive: true, force: true });
  return rows;
}

/**
 * @param args `--engine=sqlite` or `--engine=postgres` for one of them;
 * `--only=deliveries,backlog,isolation,enqueue,split,drain,prompt,idle,restart` for some parts;
 * `--queue=nats` for events that NATS hands out, and nothing else; `--short` for less of everything
 */
export async function run(args: readonly string[]): Promise<Row[]> {
  const only = args.find((arg) => arg.startsWith("--engine="))?.slice("--engine=".length);
  const asked = partsOf(args);
  const size = args.includes("--short") ? BACKLOG_SHORT : BACKLOG;
  const rows: Row[] = [];
  const receiver = await startReceiver(DEAD);
  try {
    if (args.includes("--queue=nats"))
      return await natsRows({
        ...{ live: receiver.live, short: args.includes("--short") },
        bare: (events) => loopRate(receiver.live, events),
      });
    for (const open of [async () => sqliteEngine(), postgresEngine]) {
      if (only !== undefined && open !== postgresEngine && only !== "sqlite") continue;
      if (only === "sqlite" && open === postgresEngine) continue;
      const engine = await open();
      try {
        if (asked("deliveries")) {
          const events = args.includes("--short") ? DRAINED_SHORT : DRAINED;
          const { rows: measured, capacity } = await loopRows(engine, { live: receiver.live, events });
          rows.push(...measured, await openLoop(engine, receiver, capacity));
        }
        if (asked("enqueue") && open !== postgresEngine) rows.push(...(await storing(size === BACKLOG)));
        if (asked("isolation"))
          rows.push(...(await isolationRows(engine, senderOptions(), size === BACKLOG ? 100_000 : 5_000)));
        if (asked("split")) rows.push(...(await splitRows(engine)));
        if (asked("backlog")) rows.push(...(await backlogRows(engine, size)));
      } finally {
        await engine.stop();
      }
    }
    if (only !== "sqlite")
      rows.push(...(await besidePeers(asked, receiver.live, args.includes("--short") ? undefined : DRAINED)));
  } finally {
    receiver.child.kill();
  }
  return rows;
}
