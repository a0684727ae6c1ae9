/**
 * What a seller costs beside the transport alone: `get_products` over MCP on one core, against a server of the MCP package that
 * validates as we do and sends bytes it has ready, and beside the peer's server with the same products. The floor knows nothing of MCP: node's
 * own server that reads the call and sends the answer's bytes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Agent, request } from "undici";
import { releaseNamed } from "../cli/check/release-value.js";
import type { AnswererDependencies, ListingOptions } from "../runtime/transport/answerer.js";
import { toolListing } from "../runtime/transport/mcp/listing/listing.js";
import { fromSource } from "../test/runner/from-source.js";
import { publishedReleases } from "../test/support/corpus.js";
import { median } from "./support/measure.js";
import type { Row } from "./support/row.js";

const CALLS = 3_000;
const WARM_UP = 600;
const ROUNDS = 3;
/** Calls at a time. */
const CONCURRENCY = 16;

type Kind = "ours" | "bare" | "bytes" | "peer";

interface Served {
  readonly url: string;
  readonly child: ChildProcess;
}

async function serve(kind: Kind, folder: string): Promise<Served> {
  const file = path.join(import.meta.dirname, "support", "seller-server.ts");
  const child = spawn(process.execPath, [...fromSource, file, kind, folder], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise<number>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      const found = /^(\d+)$/m.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
    child.on("exit", (code) => reject(new Error(`the ${kind} server ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, child };
}

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "get_products",
    arguments: {
      buying_mode: "brief",
      brief: "Reach runners in April.",
      brand: { domain: "acme.example" },
      context: { trace: "bench" },
    },
  },
});
/** The same call over A2A. */
const message = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "SendMessage",
  params: {
    message: {
      messageId: "m",
      role: "ROLE_USER",
      parts: [{ data: { skill: "get_products", input: JSON.parse(body).params.arguments } }],
    },
  },
});
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Calls a second. @throws where an answer is not the products */
async function load(url: string, calls: number, sent = body): Promise<number> {
  const dispatcher = new Agent({ connections: CONCURRENCY });
  let left = calls;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await request(url, { method: "POST", headers, body: sent, dispatcher });
      const text = await answer.body.text();
      if (!text.includes("prod_9")) throw new Error(`${url} answered ${answer.statusCode} ${text.slice(0, 300)}`);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
  const rate = calls / ((performance.now() - started) / 1_000);
  await dispatcher.close();
  return rate;
}

/** Bytes of `tools/list` of a sales seller, by release. */
async function listingRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const folder of publishedReleases()) {
    const release = await releaseNamed(folder);
    const sales = release.specialisms.sales_guaranteed;
    if (sales === undefined) continue;
    const names = new Set(["get_task_status", "list_tasks", ...sales.entryPoints, ...sales.exercised]);
    const tools = [...names].flatMap((name) => {
      const tool = release.tools[name];
      return tool === undefined ? [] : [{ name, tool }];
    });
    const documents = await release.schemas();
    const bytes = (listing?: ListingOptions): number =>
      Buffer.byteLength(JSON.stringify(toolListing({ tools, documents, listing } as unknown as AnswererDependencies)));
    rows.push({
      name: `tools/list of sales_guaranteed, ${release.version}`,
      value: bytes() / 1024,
      unit: "KB",
      target: { max: Math.min(24, 1.25 * tools.length) },
      note: `${tools.length} tools; ${(bytes({ schemas: "full" }) / 1024).toFixed(0)} KB with whole schemas`,
    });
  }
  return rows;
}

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-seller-"));
  const peer = path.join(import.meta.dirname, "../test/interop/peer/node_modules/@adcp/sdk");
  const kinds: Kind[] = ["ours", "bare", "bytes", ...(existsSync(peer) ? (["peer"] as const) : [])];
  const servers: [Kind, Served][] = [];
  try {
    for (const kind of kinds) servers.push([kind, await serve(kind, folder)]);
    const rates = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
    for (const [, { url }] of servers) await load(url, WARM_UP);
    const a2aUrl = servers[0]![1].url.replace(/mcp$/, "a2a");
    await load(a2aUrl, WARM_UP, message);
    const a2a: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // In turn, so that what else the machine does falls on all of them.
      for (const [kind, { url }] of servers) rates.get(kind)!.push(await load(url, CALLS));
      a2a.push(await load(a2aUrl, CALLS, message));
    }
    const rate = (kind: Kind): number => median(rates.get(kind) ?? []);
    const floor = { of: "node's server that parses the call and sends bytes", times: rate("bytes") / rate("ours") };
    const rows: Row[] = [
      {
        name: "get_products over MCP, times a bare MCP server's rate",
        value: rate("ours") / rate("bare"),
        unit: "x",
        target: { min: 1.5 },
        floor,
        note: `${rate("ours").toFixed(0)}/s against ${rate("bare").toFixed(0)}/s, ${CONCURRENCY} at a time; the floor ${rate("bytes").toFixed(0)}/s`,
      },
      {
        name: "get_products over A2A, times its rate over MCP",
        value: median(a2a) / rate("ours"),
        unit: "x",
        target: { min: 0.5 },
        note: `${median(a2a).toFixed(0)}/s; an answer carries its data once, where MCP gives it as text too`,
      },
      ...(await listingRows()),
    ];
    if (kinds.includes("peer")) {
      rows.push({
        name: "get_products over MCP, times the peer's rate",
        value: rate("ours") / rate("peer"),
        unit: "x",
        target: { min: 1 },
        floor,
        note: `${rate("peer").toFixed(0)}/s by the peer's server with the same products`,
      });
    }
    return rows;
  } finally {
    for (const [, { child }] of servers) {
      child.removeAllListeners("exit");
      child.kill();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
