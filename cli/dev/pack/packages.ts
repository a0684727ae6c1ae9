/** What this repository publishes: two packages of one version, what each is installed for, and what that may weigh. */
import { readFileSync } from "node:fs";
import path from "node:path";

/** Where the repository is. */
export const root = path.resolve(import.meta.dirname, "../../..");

/** Names a package of this repository. */
export type PackageName = "adbind" | "adbind-cli";

/** As far as packing reads it. */
export interface Manifest {
  readonly name: PackageName;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** A package: where its package.json stands, and which built files nobody imports but loads by their place. */
export const packages: Readonly<
  Record<PackageName, { readonly manifest: string; readonly threads: readonly string[] }>
> = {
  adbind: { manifest: "package.json", threads: [] },
  "adbind-cli": { manifest: "cli/package.json", threads: ["cli/explorer/compare-thread.js"] },
};

/** Reads a package's package.json. */
export const manifestOf = (name: PackageName): Manifest =>
  JSON.parse(readFileSync(path.join(root, packages[name].manifest), "utf8")) as Manifest;

/** Built files that a package starts from, below `dist/`: its exports, its commands, its threads. */
export function startsOf(name: PackageName): string[] {
  const { exports, bin } = manifestOf(name);
  const named = Object.values(exports).map((target) => (typeof target === "string" ? target : target.default!));
  const files = [...named, ...Object.values(bin)].filter((file) => file.endsWith(".js") && !file.includes("*"));
  return [...files.map((file) => file.replace(/^(?:\.\/)?dist\//, "")), ...packages[name].threads];
}

/** Somebody who installs, and what for. */
export interface Installation {
  /** As docs/install.md names it. */
  readonly what: string;
  readonly package: PackageName;
  /** Entries of the package that then load. */
  readonly entries: readonly string[];
  /** Peers it takes beside the package. */
  readonly peers: readonly string[];
  /** Most packages, and most megabytes of files (1,000,000 bytes). */
  readonly bounds?: { readonly packages: number; readonly megabytes: number };
}

const LIGHT = { packages: 20, megabytes: 25 } as const;
const SERVER = ["fastify", "@fastify/cors", "@fastify/rate-limit", "@modelcontextprotocol/server", "@a2a-js/sdk"];
const METRICS = ["@opentelemetry/exporter-prometheus", "@opentelemetry/sdk-metrics"];

/** Every use there is, with the peers it takes: what docs/install.md tells and what is measured. */
export const installations: readonly Installation[] = [
  {
    what: "webhooks verified",
    package: "adbind",
    entries: ["receiver", "signing", "signing/web", "signing/discovery", "contract", "facts", "net", "extract"],
    peers: [],
    bounds: LIGHT,
  },
  {
    what: "answers validated",
    package: "adbind",
    entries: ["validate", "standalone", "registry/client"],
    peers: [],
    bounds: LIGHT,
  },
  {
    what: "webhooks received, on SQLite",
    package: "adbind",
    entries: ["receiver", "store", "db", "queue", "testing"],
    peers: ["better-sqlite3"],
  },
  {
    what: "webhooks received, on PostgreSQL",
    package: "adbind",
    entries: ["receiver", "store", "db", "queue"],
    peers: ["pg"],
    bounds: { packages: 40, megabytes: 25 },
  },
  {
    what: "webhooks sent, on PostgreSQL",
    package: "adbind",
    entries: ["sender", "store", "db", "queue"],
    peers: ["pg"],
  },
  {
    what: "agents called over MCP",
    package: "adbind",
    entries: ["buyer", "buyer/web"],
    peers: ["@modelcontextprotocol/client"],
    bounds: { packages: 40, megabytes: 50 },
  },
  {
    what: "agents called over A2A",
    package: "adbind",
    entries: ["buyer", "buyer/web"],
    peers: ["@a2a-js/sdk"],
    bounds: { packages: 40, megabytes: 50 },
  },
  { what: "a seller of one's own", package: "adbind", entries: ["seller"], peers: [...SERVER, "better-sqlite3"] },
  {
    what: "a seller as `adbind new seller` makes it",
    package: "adbind",
    entries: ["behaviours"],
    peers: [...SERVER, ...METRICS, "better-sqlite3", "pg"],
  },
  {
    what: "the command, the generator, the registry",
    package: "adbind-cli",
    entries: ["", "conformance", "registry"],
    peers: [],
  },
];
