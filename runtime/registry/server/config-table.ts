/** The settings of a registry's server, with what is said of each. */
import { tokenAlgorithms } from "./auth/tokens.js";
import { type Bucket, limitDefaults } from "./limits.js";

type Kind = "text" | "number" | "boolean" | "list";

export interface ConfigEntry {
  readonly name: string;
  readonly kind: Kind;
  /** As it is written; undefined when there is none. */
  readonly default?: string;
  readonly help: string;
  /** Where it has a name of its own; otherwise it follows from the flag. */
  readonly env?: string;
  /** Other words that may be given, in a closed set. */
  readonly choices?: readonly string[];
  /** Least and most, of a number. */
  readonly range?: readonly [number, number];
}

export const buckets = Object.keys(limitDefaults) as Bucket[];

const limitEntries: readonly ConfigEntry[] = buckets.map((name) => ({
  name: `limit-${name}`,
  kind: "number",
  default: String(limitDefaults[name].max),
  range: [0, 1_000_000_000],
  help: `${limitDefaults[name].what}${limitDefaults[name].windowMs === 60_000 ? " a minute" : ""}; 0 is no limit`,
}));

export const configTable: readonly ConfigEntry[] = [
  {
    name: "store",
    kind: "text",
    default: "sqlite:registry.db",
    env: "ADBIND_STORE",
    help: "sqlite:<path> for one instance, postgres://user@host/database for many",
  },
  {
    name: "migrate",
    kind: "boolean",
    default: "true",
    help: "bring the schema to this version; false: start on what is there, or say what is missing",
  },
  {
    name: "listen-url",
    kind: "text",
    help: "the same PostgreSQL without the pooler in front of it, to hear of new work at once; without it work is polled for",
  },
  { name: "host", kind: "text", default: "127.0.0.1", help: "address to listen on; 0.0.0.0 is every one" },
  {
    name: "port",
    kind: "number",
    default: "8080",
    range: [0, 65_535],
    help: "port to listen on; 0 is any that is free",
  },
  {
    name: "base-url",
    kind: "text",
    help: "public address, such as https://registry.example; default the one it was last served at, or http://localhost and the port",
  },
  {
    name: "trusted-proxies",
    kind: "list",
    help: "proxies in front whose X-Forwarded-For is believed: addresses, networks such as 10.0.0.0/8, or loopback",
  },
  {
    name: "crawl",
    kind: "text",
    default: "on",
    choices: ["on", "queue", "off"],
    help: "on: fetch publishers' files; queue: leave that to another instance on the store; off: to nobody",
  },
  {
    name: "probe",
    kind: "boolean",
    default: "true",
    help: "ask agents how they are and what they can do, where this instance crawls",
  },
  {
    name: "search-discovered",
    kind: "boolean",
    default: "false",
    help: "search agents too that no member registered",
  },
  {
    name: "search",
    kind: "text",
    default: "memory",
    choices: ["memory", "postgres"],
    help: "memory: searches are answered from an index of this instance; postgres: by PostgreSQL, in the same order",
  },
  {
    name: "search-store",
    kind: "text",
    help: "with --search postgres, a replica of the store that searches ask instead; it may be behind",
  },
  {
    name: "search-parts",
    kind: "list",
    help: "in place of --search: addresses of the processes that hold a part of the index each, the first of part 1, comma-separated",
  },
  {
    name: "search-part",
    kind: "text",
    help: "hold this part of the index, such as 2/4, and answer those who ask for it; nothing else is served",
  },
  {
    name: "search-token",
    kind: "text",
    help: "secret that parts and who asks them share, 16 characters or more; best given by its variable, which no list of processes shows",
  },
  {
    name: "search-deadline",
    kind: "number",
    default: "1000",
    range: [10, 7_000],
    help: "milliseconds a part is waited for; then the answer is given without it and says so",
  },
  {
    name: "page-search",
    kind: "boolean",
    default: "true",
    help: "let people search public agents on the page without a credential",
  },
  { name: "embedded-issuer", kind: "boolean", default: "true", help: "issue tokens to local accounts, under /oauth" },
  { name: "issuers", kind: "list", help: "OAuth 2.1 issuers whose tokens are accepted too, by URL, comma-separated" },
  { name: "issuer-audience", kind: "text", help: "aud their tokens must carry; default the base URL and /api" },
  {
    name: "issuer-algorithms",
    kind: "list",
    default: tokenAlgorithms.join(","),
    choices: tokenAlgorithms,
    help: "signatures their tokens may have",
  },
  {
    name: "issuer-organization-claim",
    kind: "text",
    default: "org_id",
    help: "claim of their tokens that names the organization",
  },
  ...limitEntries,
  {
    name: "body-limit",
    kind: "number",
    default: "1048576",
    range: [1_024, 104_857_600],
    help: "longest body of a request, in bytes",
  },
  {
    name: "drain",
    kind: "number",
    default: "3",
    range: [0, 600],
    help: "seconds /readyz says no on SIGTERM before connections are closed",
  },
  {
    name: "log-level",
    kind: "text",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    help: "least severe line that is logged",
  },
  {
    name: "otlp-endpoint",
    kind: "text",
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    help: "where traces are sent by OTLP over HTTP; without it none are",
  },
];
