/** What `adbind registry serve` can be told, by flag or by environment. */
import { AdbindError } from "../../errors.js";
import { readPart } from "../search/part-wire.js";
import { buckets, type ConfigEntry, configTable } from "./config-table.js";
import type { Bucket } from "./limits.js";
import type { TrustedIssuer } from "./trusted-issuer.js";

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
  readonly search: "memory" | "database";
  readonly searchStore: string | undefined;
  /** The part that this process holds. */
  readonly searchPart: string | undefined;
  readonly searchToken: string | undefined;
  readonly searchParts:
    | { readonly urls: readonly string[]; readonly token: string; readonly deadlineMs: number }
    | undefined;
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
    const text = flag ?? (variable === "" ? undefined : variable) ?? entry.default;
    if (text === undefined) continue;
    const problem = problemOf(entry, text);
    // A store's URL may hold a password.
    const shown = /store$|token$/.test(entry.name) ? "" : ` ${text}`;
    if (problem === undefined) values.set(entry.name, readValue(entry, text));
    else problems.push(`${flag === undefined ? envOf(entry) : `--${entry.name}`}${shown} ${problem}`);
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith("ADBIND_REGISTRY_") && !configTable.some((entry) => envOf(entry) === name))
      problems.push(`${name} is no setting`);
  }
  problems.push(...partProblems(values));
  if (problems.length > 0) {
    throw new AdbindError("registry_option_invalid", `the configuration is wrong: ${problems.join("; ")}`, {
      remedy: "adbind registry serve --help lists what there is",
    });
  }
  return configOf(values);
}

/** What is wrong between the settings of an index in parts. */
function partProblems(values: ReadonlyMap<string, Value>): string[] {
  const part = values.get("search-part") as string | undefined;
  const parts = values.get("search-parts") as readonly string[] | undefined;
  if (part === undefined && parts === undefined) return [];
  const problems: string[] = [];
  if (part !== undefined && parts !== undefined)
    problems.push("--search-part holds a part, and --search-parts asks them: a process does one of both");
  if (part !== undefined && readPart(part) === undefined)
    problems.push(`--search-part ${part} is not which of how many, such as 2/4`);
  if (parts !== undefined && values.get("search") !== "memory")
    problems.push("--search-parts and --search postgres exclude each other");
  if (values.get("search-token") === undefined) problems.push("parts of the index need a --search-token");
  return problems;
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
    search: get("search") === "memory" ? "memory" : "database",
    searchStore: get("search-store"),
    searchPart: get("search-part"),
    searchToken: get("search-token"),
    searchParts: searchPartsOf(get),
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

function searchPartsOf(get: <T extends Value>(name: string) => T): RegistryConfig["searchParts"] {
  const urls = get<readonly string[] | undefined>("search-parts");
  return urls && { urls, token: get("search-token"), deadlineMs: get("search-deadline") };
}

/** The table as docs/registry-configuration.md has it. */
export function configurationPage(): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const rows = configTable.map(
    (entry) =>
      `| \`--${entry.name}\` | \`${envOf(entry)}\` | ${entry.default === undefined ? "" : `\`${cell(entry.default)}\``} | ${cell(entry.help)} |`,
  );
  return [
    "# Configuration of the registry",
    "",
    "`adbind registry serve` starts with no configuration at all. A flag wins over the environment, the environment over the",
    "default. What is wrong is named, all of it at once, and the command ends with status 2. This page is made from the table in",
    "`runtime/registry/server/config-table.ts`; a test compares the two.",
    "",
    "| Flag | Environment | Default | What it is |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
