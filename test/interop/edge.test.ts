/** What runs at the edge does run there: workerd, without node's modules and without making code. */
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { request } from "undici";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { signWebhook } from "../../runtime/signing/index.js";
import { browserBundle, userProject } from "../support/project.js";
import { startMcpServer } from "./transports/typescript.js";

const root = path.resolve(import.meta.dirname, "../..");

const [workerd] = globSync("test/interop/workerd/node_modules/@cloudflare/workerd-*/bin/workerd", { cwd: root });

const SENDER = "https://seller.example/agent";
const PUBLIC_URL = "https://hooks.buyer.example/edge";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const purpose = { kid: "edge-1", use: "sig", key_ops: ["verify"], alg: "EdDSA", proto_use: "request-signing" };
const jwk = { ...publicKey.export({ format: "jwk" }), ...purpose };

test("each entry for the edge bundles for the browser, with nothing of node", async () => {
  const folder = userProject();
  for (const entry of ["signing/web", "standalone", "extract", "contract", "buyer/web"]) {
    // esbuild refuses any import of a node module for this platform.
    const bundled = await browserBundle({ folder, program: `export * from "adbind/${entry}";` });
    assert.not.match(bundled, /\brequire\(|node:|new Function|\beval\(/, entry);
  }
});

/** A folder with the worker in one file, and the configuration that serves it. */
async function workerFolder(): Promise<string> {
  const folder = userProject();
  const made = await generate([path.join(root, "manifests/3.1.0")], {
    out: path.join(folder, "bindings"),
    standalone: true,
  });
  assert.is(made.ok, true);
  copyFileSync(path.join(import.meta.dirname, "workerd/worker.ts"), path.join(folder, "worker.ts"));
  await build({
    entryPoints: [path.join(folder, "worker.ts")],
    outfile: path.join(folder, "worker.js"),
    ...{ bundle: true, minify: true, format: "esm", platform: "browser", conditions: ["adbind-source"] },
    define: {
      JWK: JSON.stringify(jwk),
      SENDER: JSON.stringify(SENDER),
      PUBLIC_URL: JSON.stringify(PUBLIC_URL),
    },
    logLevel: "silent",
  });
  writeFileSync(
    path.join(folder, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "internet", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")]
);
const edge :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2025-06-01"
);
`,
  );
  return folder;
}

interface Worker {
  readonly address: string;
  stop(): void;
}

/** Serves the worker. workerd says on a pipe of its own which port it got. */
function serve(folder: string): Promise<Worker> {
  const args = ["serve", path.join(folder, "config.capnp"), "--control-fd=3"];
  const child = spawn(path.join(root, workerd!), args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr!.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`workerd ended with ${code}: ${errors}`)));
    let told = "";
    child.stdio[3]!.on("data", (chunk) => {
      told += chunk;
      const port = /"port":(\d+)/.exec(told)?.[1];
      if (port !== undefined) resolve({ address: `http://127.0.0.1:${port}/`, stop: () => child.kill() });
    });
  });
}

interface EdgeAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Sends bytes to the worker as a proxy does that answers for its public name. */
async function send(address: string, headers: Record<string, string>, body: Uint8Array): Promise<EdgeAnswer> {
  const { host } = new URL(PUBLIC_URL);
  const { statusCode, body: answer } = await request(address, { method: "POST", headers: { ...headers, host }, body });
  return { status: statusCode, body: (await answer.json()) as Record<string, unknown> };
}

async function post(address: string, result: object): Promise<EdgeAnswer> {
  const envelope = {
    ...{ idempotency_key: crypto.randomUUID(), operation_id: "op-1", task_id: "task-1", task_type: "create_media_buy" },
    ...{ status: "completed", timestamp: "2026-04-18T14:00:00Z", result },
  };
  const body = Buffer.from(JSON.stringify(envelope));
  const unsigned = { method: "POST", url: PUBLIC_URL, headers: {}, body };
  const { headers } = await signWebhook(unsigned, { key: privateKey, keyid: "edge-1" });
  return send(address, { ...headers }, body);
}

if (workerd === undefined) {
  test("workerd is skipped where it is not installed", () =>
    console.log("skipped: workerd is not installed (npm ci in test/interop/workerd)"));
} else {
  test("in workerd: a buyer over MCP agrees, lists and calls, with an agent of either line", async () => {
    const folder = await workerFolder();
    const worker = await serve(folder);
    const answers = {
      get_agent_capabilities: { status: "completed", proto: { major_versions: [3], supported_versions: ["3.1"] } },
      get_products: { status: "completed", products: [] },
    };
    try {
      for (const kind of ["mcp-1", "mcp-2"] as const) {
        const agent = await startMcpServer(kind, answers);
        try {
          const { body } = await request(`${worker.address}?agent=${encodeURIComponent(agent.url)}`);
          const told = await body.text();
          const lacks = ["undefined", "undefined", "undefined", "EvalError"];
          assert.is(told, JSON.stringify({ tools: 3, status: "completed", lacks }), kind);
        } finally {
          await agent.close();
        }
      }
    } finally {
      worker.stop();
    }
  });

  test("in workerd: a webhook is verified, and its typed result taken out", async () => {
    const folder = await workerFolder();
    const [bought] = JSON.parse(
      readFileSync(path.join(root, "manifests/3.1.0/media-buy/create-media-buy-response.json"), "utf8"),
    ).examples;
    const worker = await serve(folder);
    try {
      const good = await post(worker.address, bought);
      assert.equal(good, {
        status: 200,
        body: {
          told: `bought ${bought.media_buy_id}`,
          taskId: "task-1",
          errors: [],
          lacks: ["undefined", "undefined", "undefined", "EvalError"],
        },
      });
      const wrong = await post(worker.address, { ...bought, packages: 7 });
      const [error] = wrong.body.errors as { pointer: string }[];
      assert.is(error?.pointer, "/packages");
      const forged = await send(worker.address, { "content-type": "application/json" }, Buffer.from("{}"));
      assert.is(forged.status, 401);
      assert.match(forged.body.code as string, /^webhook_signature_/);
    } finally {
      worker.stop();
    }
  });
}

test.run();
