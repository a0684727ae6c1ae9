/** What `adbind registry serve` can be told, by flag or by environment: the one table, from which help and docs are made. */
import { AdbindError } from "../../errors.js";
import { type TrustedIssuer, tokenAlgorithms } from "./auth/tokens.js";
import { type Bucket, limitDefaults } from "./limits.js";

type Kind = "text" | "number" | "boolean" | "list";

export interface ConfigEntry {
  readonly name: string;
  readonly kind: Kind;
  /** As it is written; undefined when there is none. */
  readonly standard?: string;
  readonly help: string;
  /** Where it has a name of its own; otherwise it follows from the flag. */
  readonly env?: string;
  /** Other words that may be given, in a closed set. */
  readonly choices?: readonly string[];
  /** Least and most, of a number. */
  readonly range?: readonly [number, number];
}

const buckets = Object.keys(limitDefaults) as Bucket[];

const limitEntries: readonly ConfigEntry[] = buckets.map((name) => ({
  name: `limit-${name}`,
  kind: "number",
  standard: String(limitDefaults[name].max),
  range: [0, 1_000_000_000],
  help: `${limitDefaults[name].what}${limitDefaults[name].windowMs === 60_000 ? " a minute" : ""}; 0 is no limit`,
}));

export const configTable: readonly ConfigEntry[] = [
  {
    name: "store",
    kind: "text",
    standard: "sqlite:registry.db",
    env: "ADBIND_STORE",
    help: "sqlite:<path> for one instance, postgres://user@host/database for many",
  },
  {
    name: "migrate",
    kind: "boolean",
    standard: "true",
    help: "bring the schema to this version; false: start on what is there, or say what is missing",
  },
  {
    name: "listen-url",
    kind: "text",
    help: "the same PostgreSQL without the pooler in front of it, to hear of new work at once; without it work is polled for",
  },
  { name: "host", kind: "text", standard: "127.0.0.1", help: "address to listen on; 0.0.0.0 is every one" },
  {
    name: "port",
    kind: "number",
    standard: "8080",
    range: [0, 65_535],
    help: "port to listen on; 0 is any that is free",
  },
  {
    name: "base-url",
    kind: "text",
    help: "public address, such as https://registry.example; default http://localhost and the port",
  },
  {
    name: "trusted-proxies",
    kind: "list",
    help: "proxies in front whose X-Forwarded-For is believed: addresses, networks such as 10.0.0.0/8, or loopback",
  },
  {
    name: "crawl",
    kind: "text",
    standard: "on",
    choices: ["on", "queue", "off"],
    help: "on: fetch publishers' files; queue: leave that to another instance on the store; off: to nobody",
  },
  {
    name: "probe",
    kind: "boolean",
    standard: "true",
    help: "ask agents how they are and what they can do, where this instance crawls",
  },
  {
    name: "search-discovered",
    kind: "boolean",
    standard: "false",
    help: "search agents too that no member registered",
  },
  {
    name: "search",
    kind: "text",
    standard: "memory",
    choices: ["memory", "postgres"],
    help: "memory: searches are answered from an index of this instance; postgres: by PostgreSQL, in the same order",
  },
  {
    name: "search-store",
    kind: "text",
    help: "with --search postgres, a replica of the store that searches ask instead; it may be behind",
  },
  {
    name: "page-search",
    kind: "boolean",
    standard: "true",
    help: "let people search public agents on the page without a credential",
  },
  { name: "embedded-issuer", kind: "boolean", standard: "true", help: "issue tokens to local accounts, under /oauth" },
  { name: "issuers", kind: "list", help: "OAuth 2.1 issuers whose tokens are accepted too, by URL, comma-separated" },
  { name: "issuer-audience", kind: "text", help: "aud their tokens must carry; default the base URL and /api" },
  {
    name: "issuer-algorithms",
    kind: "list",
    standard: tokenAlgorithms.join(","),
    choices: tokenAlgorithms,
    help: "signatures their tokens may have",
  },
  {
    name: "issuer-organization-claim",
    kind: "text",
    standard: "org_id",
    help: "claim of their tokens that names the organization",
  },
  ...limitEntries,
  {
    name: "body-limit",
    kind: "number",
    standard: "1048576",
    range: [1_024, 104_857_600],
    help: "longest body of a request, in bytes",
  },
  {
    name: "drain",
    kind: "number",
    standard: "3",
    range: [0, 600],
    help: "seconds /readyz says no on SIGTERM before connections are closed",
  },
  {
    name: "log-level",
    kind: "text",
    standard: "info",
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

export const envOf = ({ name, env }: ConfigEntry): string =>
  env ?? `ADBIND_REGISTRY_${name.toUpperCase().replaceAll("-", "_")}`;

type Value = string | number | boolean | readonly string[] | undefined;

function problemOf({ kind, range, choices }: ConfigEntry, text: string): string | undefined {
  switch (kind) {
    case "number": {
      const [least, most] = range!;
      const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? undefined : `is no whole number from ${least} to ${most}`;
    }
    case "boolean":
      return text === "true" || text === "false" ? undefined : "is neither true nor false";
    case "text":
      return choices === undefined || choices.includes(text) ? undefined : `is none of ${choices.join(", ")}`;
    case "list": {
      const off = listOf(text).find((one) => choices !== undefined && !choices.includes(one));
      return off === undefined ? undefined : `has ${off}, which is none of ${choices!.join(", ")}`;
    }
  }
}

const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function readValue({ kind }: ConfigEntry, text: string): Value {
  switch (kind) {
    case "number":
      return Number(text);
    case "boolean":
      return text === "true";
    case "list":
      return listOf(text);
    case "text":
      return text;
  }
}

export interface RegistryConfig {
  readonly store: string;
  readonly migrate: boolean;
  readonly listenUrl: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Undefined: `http://localhost` and the port it listens on. */
  readonly baseUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly crawling: "on" | "queue" | "off";
  readonly searchDiscovered: boolean;
  readonly search: "memory" | "postgres";
  readonly searchStore: string | undefined;
  readonly pageSearch: boolean;
  readonly probing: boolean;
  readonly embeddedIssuer: boolean;
  readonly issuers: readonly TrustedIssuer[];
  readonly limits: Readonly<Record<Bucket, number>>;
  readonly bodyLimitBytes: number;
  readonly drainMs: number;
  readonly logLevel: string;
  readonly otlpEndpoint: string | undefined;
}

/** Kubernetes describes a service called adbind-registry to every container beside it, under these names. */
const isServiceLink = (name: string, value: string): boolean =>
  /^ADBIND_REGISTRY_(SERVICE_|PORT_\d)/.test(name) || (name === "ADBIND_REGISTRY_PORT" && /^(tcp|udp):/.test(value));

/**
 * Reads the configuration: a flag wins over the environment, the environment over the default.
 * @param flags by name, as in the table; absent where not given
 * @throws AdbindError `registry_option_invalid` that names everything that is wrong at once
 */
export function readConfig(
  flags: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): RegistryConfig {
  const env = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => !isServiceLink(name, value ?? "")),
  );
  const values = new Map<string, Value>();
  const problems: string[] = [];
  for (const entry of configTable) {
    const flag = flags[entry.name];
    const variable = env[envOf(entry)];
    const text = flag ?? (variable === "" ? undefined : variable) ?? entry.standard;
    if (text === undefined) continue;
    const problem = problemOf(entry, text);
    // A store's URL may hold a password.
    const shown = entry.name.endsWith("store") ? "" : ` ${text}`;
    if (problem === undefined) values.set(entry.name, readValue(entry, text));
    else problems.push(`${flag === undefined ? envOf(entry) : `--${entry.name}`}${shown} ${problem}`);
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith("ADBIND_REGISTRY_") && !configTable.some((entry) => envOf(entry) === name))
      problems.push(`${name} is no setting`);
  }
  if (problems.length > 0) {
    throw new AdbindError("registry_option_invalid", `the configuration is wrong: ${problems.join("; ")}`, {
      remedy: "adbind registry serve --help lists what there is",
    });
  }
  return configOf(values);
}

function configOf(values: ReadonlyMap<string, Value>): RegistryConfig {
  const get = <T extends Value>(name: string): T => values.get(name) as T;
  const audience = get<string | undefined>("issuer-audience");
  return {
    store: get("store"),
    migrate: get("migrate"),
    listenUrl: get("listen-url"),
    host: get("host"),
    port: get("port"),
    baseUrl: get("base-url"),
    trustedProxies: get<readonly string[] | undefined>("trusted-proxies") ?? [],
    crawling: get("crawl"),
    searchDiscovered: get("search-discovered"),
    search: get("search"),
    searchStore: get("search-store"),
    pageSearch: get("page-search"),
    probing: get("probe"),
    embeddedIssuer: get("embedded-issuer"),
    issuers: (get<readonly string[] | undefined>("issuers") ?? []).map((issuer) => ({
      issuer,
      ...(audience !== undefined && { audience }),
      algorithms: get<readonly string[]>("issuer-algorithms"),
      organizationClaim: get<string>("issuer-organization-claim"),
    })),
    limits: Object.fromEntries(buckets.map((name) => [name, get<number>(`limit-${name}`)])) as RegistryConfig["limits"],
    bodyLimitBytes: get("body-limit"),
    drainMs: get<number>("drain") * 1000,
    logLevel: get("log-level"),
    otlpEndpoint: get("otlp-endpoint"),
  };
}

/** The table as docs/registry-configuration.md has it. */
export function configurationPage(): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const rows = configTable.map(
    (entry) =>
      `| \`--${entry.name}\` | \`${envOf(entry)}\` | ${entry.standard === undefined ? "" : `\`${cell(entry.standard)}\``} | ${cell(entry.help)} |`,
  );
  return [
    "# Configuration of the registry",
    "",
    "`adbind registry serve` starts with no configuration at all. A flag wins over the environment, the environment over the",
    "default. What is wrong is named, all of it at once, and the command ends with status 2. This page is made from the table in",
    "`runtime/registry/server/config.ts`; a test compares the two.",
    "",
    "| Flag | Environment | Default | What it is |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
