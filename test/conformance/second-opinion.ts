/**
 * `./run conformance peer [bundle...]`: a second opinion on one old suite. For every specialism of published 3.0 a seller is scaffolded and served, and the
 * protocol's own runner judges it; so are the bundles every seller must pass. Ends with a count of the steps, and with
 * exit code 1 when one fails that test/interop/known-failures.json does not explain.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { newSeller } from "../../generator/scaffold/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { corpus, peerRelease } from "../support/corpus.js";

const root = path.resolve(import.meta.dirname, "../..");
const peer = path.join(root, "test/interop/peer/node_modules/@adcp/sdk");
const clock = path.join(root, "test/interop/clock.mjs");

/** Longest one bundle may take. */
const BUNDLE_LIMIT_MS = 5 * 60_000;

interface Bundle {
  /** As the runner calls it. */
  readonly id: string;
  /** What the seller under test claims. */
  readonly specialism: string;
  /** Webhooks of the seller are received and judged. */
  readonly receiver?: boolean;
  /** Callers need a token of an OAuth issuer. */
  readonly issuer?: boolean;
  /** Settings of the seller. */
  readonly env?: Readonly<Record<string, string>>;
}

const specialisms = [
  "audience_sync",
  "brand_rights",
  "collection_lists",
  "content_standards",
  "creative_ad_server",
  "creative_generative",
  "creative_template",
  "governance_aware_seller",
  "governance_delivery_monitor",
  "governance_spend_authority",
  "property_lists",
  "sales_broadcast_tv",
  "sales_catalog_driven",
  "sales_guaranteed",
  "sales_non_guaranteed",
  "sales_proposal_mode",
  "sales_social",
  "signal_marketplace",
  "signal_owned",
];

/** Of every bundle for all sellers, the seller it says most of. */
const universal: readonly Bundle[] = [
  ...[
    "capability_discovery",
    "schema_validation",
    "v3_envelope_integrity",
    "error_compliance",
    "pagination_integrity",
    "pagination_integrity_creative_formats",
    "pagination_integrity_list_accounts",
    "get_media_buys_pagination_integrity",
  ].map((id) => ({ id, specialism: "sales_guaranteed" })),
  { id: "idempotency", specialism: "sales_guaranteed", receiver: true },
  {
    id: "security_baseline",
    specialism: "sales_guaranteed",
    issuer: true,
  },
  { id: "get_signals_pagination_integrity", specialism: "signal_marketplace" },
  { id: "pagination_integrity_collection_lists", specialism: "collection_lists" },
  { id: "pagination_integrity_property_lists", specialism: "property_lists" },
  { id: "pagination_integrity_content_standards", specialism: "content_standards" },
  // A webhook follows what is not answered at once: here every guaranteed order waits for a signature.
  { id: "webhook_emission", specialism: "sales_guaranteed", receiver: true, env: { SIGNED_FROM: "0" } },
];

const bundles: readonly Bundle[] = [
  ...specialisms.map((id) => ({ id, specialism: id, ...(id === "sales_broadcast_tv" && { receiver: true }) })),
  ...universal,
];

interface Failure {
  readonly storyboard_id: string;
  readonly step_id: string;
  readonly reason: string;
}

interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly overall_status: string;
  readonly failures: readonly Failure[];
}

interface Known {
  readonly storyboard_id: string;
  readonly step_id: string;
  readonly why: string;
  readonly evidence: string;
  readonly repro: string;
}

interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** An OAuth issuer as far as others read of it. */
async function startIssuer(): Promise<Served> {
  const { publicKey } = generateKeyPairSync("ed25519");
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "issuer", alg: "EdDSA", use: "sig" }];
  const server = createHttpServer((request, response) => {
    const issuer = `http://${request.headers.host}`;
    const endpoints = { token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/auth` };
    const metadata = { issuer, jwks_uri: `${issuer}/jwks`, response_types_supported: ["code"], ...endpoints };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url === "/jwks" ? { keys } : metadata));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** The project as `npm start` serves it, without compiling it first. */
async function serve(folder: string, env: Readonly<Record<string, string>>): Promise<Served> {
  const port = await freePort();
  const flags = ["--import", clock, ...fromSource];
  const child = spawn(process.execPath, [...flags, "src/serve.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA: mkdtempSync(path.join(folder, "data-")), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said += chunk;
      const line = /^http\S+\/mcp$/m.exec(said);
      if (line !== null) resolve(line[0]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(`the seller of ${folder} does not start:\n${said}`)));
  });
  return { url, stop: () => ended(child) };
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** Runs one bundle; its exit code hides failures, so the summary it writes is read. */
async function judge(url: string, { id, receiver }: Bundle, folder: string): Promise<Summary> {
  const file = path.join(folder, `${id}.json`);
  const args = ["bin/adcp.js", "storyboard", "run", url, id, "--allow-http", "--summary-output", file];
  if (receiver) args.push("--webhook-receiver");
  const child = spawn(process.execPath, ["--import", clock, ...args], {
    cwd: peer,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: BUNDLE_LIMIT_MS,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk));
  await new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (!existsSync(file)) throw new Error(`the runner gave no summary of ${id}:\n${said.slice(-2000)}`);
  return JSON.parse(readFileSync(file, "utf8")) as Summary;
}

const release = (): { source: string; partial: boolean } | undefined => {
  const published = path.join(corpus, "releases/3.0.26");
  if (existsSync(published)) return { source: published, partial: false };
  const source = peerRelease();
  return source === undefined ? undefined : { source, partial: true };
};

const close = willClose("steps");

async function main(wanted: readonly string[]): Promise<void> {
  const from = release();
  if (from === undefined) return close({ passed: 0, failed: 1 });
  const unknown = wanted.filter((id) => !bundles.some((bundle) => bundle.id === id));
  if (unknown.length > 0) {
    console.error(`no bundle ${unknown.join(", ")}; there are ${bundles.map(({ id }) => id).join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const known = JSON.parse(readFileSync(path.join(root, "test/interop/known-failures.json"), "utf8")) as Known[];
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-conformance-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  symlinkSync(path.join(root, "node_modules/jose"), path.join(folder, "node_modules/jose"));
  const total = { passed: 0, failed: 0, skipped: 0, known: 0 };
  console.log(`${"bundle".padEnd(42)}${"seller".padEnd(30)}passed failed skipped`);
  for (const bundle of bundles.filter(({ id }) => wanted.length === 0 || wanted.includes(id))) {
    const project = path.join(folder, bundle.specialism);
    if (!existsSync(project))
      await newSeller({
        folder: project,
        release: from.source,
        specialisms: [bundle.specialism],
        partial: from.partial,
      });
    const issuer = bundle.issuer ? await startIssuer() : undefined;
    const { url, stop } = await serve(project, { ...bundle.env, ...(issuer && { ISSUER: issuer.url }) });
    const summary = await judge(url, bundle, folder).finally(stop);
    await issuer?.stop();
    const { passed, failed, skipped, failures } = summary;
    console.log(
      `${bundle.id.padEnd(42)}${bundle.specialism.padEnd(30)}${String(passed).padStart(6)} ${String(failed).padStart(6)} ${String(skipped).padStart(7)}`,
    );
    for (const { storyboard_id, step_id, reason } of failures) {
      const excuse = known.find((one) => one.storyboard_id === storyboard_id && one.step_id === step_id);
      if (excuse === undefined) total.failed += 1;
      else total.known += 1;
      console.log(
        `  ${excuse === undefined ? "FAILED" : "known"} ${storyboard_id}/${step_id}: ${excuse?.why ?? reason}`,
      );
    }
    if (passed === 0) {
      total.failed += 1;
      console.log(`  FAILED nothing was judged: ${summary.overall_status}`);
    }
    total.passed += passed;
    total.skipped += skipped;
    // A failure that the summary counts and does not name is one all the same.
    total.failed += Math.max(0, failed - failures.length);
  }
  close(total);
}

await main(process.argv.slice(2));
