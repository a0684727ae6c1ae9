/** `adbind registry serve`: a registry that works from the first start, and stops without losing a request. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Tracer } from "@opentelemetry/api";
import type { Command } from "commander";
import { type Logger, pino } from "pino";
import { keepAddress, keptAddress } from "../runtime/registry/address.js";
import type { Registry } from "../runtime/registry/server/app.js";
import { envOf, type RegistryConfig, readConfig } from "../runtime/registry/server/config.js";
import { configTable } from "../runtime/registry/server/config-table.js";
import type { RegistryPart } from "../runtime/registry/server/part-app.js";
import type { AnyStore } from "../runtime/store/index.js";
import { unusableAddress } from "./listening.js";
import { openNamedStore, shownStore } from "./store.js";

type Signal = "SIGTERM" | "SIGINT";

/** Calls `end` at the first SIGTERM or SIGINT; a second one ends the process at once. */
function onSignal(end: (signal: Signal) => void): void {
  let asked = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130);
      asked = true;
      end(signal);
    });
  }
}

/** Any free port, known before the server listens: its public address names it. */
async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

async function listen(registry: Served["server"], where: { host: string; port: number }): Promise<string> {
  try {
    return await registry.listen(where);
  } catch (error) {
    throw unusableAddress(where, error) ?? error;
  }
}

const greeting = (baseUrl: string, address: string, store: string): string =>
  [
    `registry   ${address}   (store ${shownStore(store)})`,
    `pages      ${baseUrl}/   ${baseUrl}/docs`,
    "",
    "Try:",
    `  curl '${address}/api/registry/publisher?domain=example.com'`,
    `  curl '${address}/api/registry/stats'`,
    "A search needs a key:",
    `  adbind registry orgs create "My company" --tier company_standard --store ${shownStore(store)}`,
    `  adbind registry keys create <organization> "My key" --store ${shownStore(store)}`,
    `  curl -H 'Authorization: Bearer sk_...' '${address}/api/registry/agents/search?channels=display'`,
    "",
  ].join("\n");

interface Opened {
  readonly config: RegistryConfig;
  readonly store: AnyStore;
  readonly searchCopy: AnyStore | undefined;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
}

/** What is served, and what is said of it at its start. */
interface Served {
  readonly server: Registry | RegistryPart;
  greeting(address: string): string;
}

async function partOf({ config, store, logger, tracer }: Opened, part: string): Promise<Served> {
  const { createRegistryPart } = await import("../runtime/registry/server/part-app.js");
  const { drainMs } = config;
  const traced = tracer !== undefined && { tracer };
  const server = await createRegistryPart({ store, part, token: config.searchToken!, drainMs, logger, ...traced });
  const shown = shownStore(config.store);
  return {
    server,
    greeting: (address) => `registry   ${address}   (part ${part} of the search's index, store ${shown})\n`,
  };
}

async function registryOf({ config, store, searchCopy, logger, tracer }: Opened, port: number): Promise<Served> {
  const { createRegistry } = await import("../runtime/registry/server/app.js");
  // One more instance that took itself for another registry would find that nobody points to the files that are hosted.
  const baseUrl = config.baseUrl ?? (await keptAddress(store.database)) ?? `http://localhost:${port}`;
  if (config.baseUrl !== undefined) await keepAddress(store.database, config.baseUrl);
  const { crawling, drainMs, trustedProxies, searchDiscovered, search, searchParts, pageSearch, probing } = config;
  const { embeddedIssuer, issuers, limits, bodyLimitBytes } = config;
  const server = await createRegistry({
    store,
    baseUrl,
    trustedProxies,
    searchDiscovered,
    search,
    searchCopy,
    searchParts,
    pageSearch,
    probing,
    embeddedIssuer,
    issuers,
    logger,
    drainMs,
    crawling,
    limits,
    bodyLimitBytes,
    ...(tracer !== undefined && { tracer }),
  });
  return { server, greeting: (address) => greeting(baseUrl, address, config.store) };
}

/**
 * A file has one registry: what it counts of callers, and what it paces, it has in memory, so that two of them would let everybody in
 * twice as often. Parts of the index only read.
 */
const soleRegistry = ({ database }: AnyStore, logger: Logger): Promise<() => void> =>
  database.sole("registry", () =>
    logger.warn({ store: database.where }, "waits for the registry that serves from this file"),
  );

async function serve(given: Record<string, string | undefined>): Promise<void> {
  // Commander names options in camel case.
  const flags = Object.fromEntries(
    configTable.map(({ name }) => [name, given[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]]),
  );
  const config = readConfig(flags, process.env);
  const { startTracing } = await import("../runtime/registry/server/tracing.js");
  const tracing = config.otlpEndpoint === undefined ? undefined : startTracing(config.otlpEndpoint);
  // Lines go to stderr: stdout is for what the command says.
  const logger = pino({ name: "adbind-registry", level: config.logLevel }, pino.destination(2));
  const { migrate, listenUrl, host, searchPart } = config;
  const opening = { migrate, ...(listenUrl !== undefined && { listenUrl }) };
  const store = await openNamedStore(config.store, "create", opening);
  let served: Served | undefined;
  let yieldFile: (() => void) | undefined;
  let searchCopy: AnyStore | undefined;
  try {
    if (searchPart === undefined) yieldFile = await soleRegistry(store, logger);
    // A replica has the schema of its store, and takes no other.
    if (config.searchStore !== undefined)
      searchCopy = await openNamedStore(config.searchStore, "read", { migrate: false });
    const port = config.port === 0 ? await freePort(host) : config.port;
    const opened = { config, store, searchCopy, logger, tracer: tracing?.tracer };
    served = await (searchPart === undefined ? registryOf(opened, port) : partOf(opened, searchPart));
    const stopped = Promise.withResolvers<Signal>();
    onSignal(stopped.resolve);
    const address = await listen(served.server, { host, port });
    console.log(served.greeting(address));
    const signal = await stopped.promise;
    logger.info({ signal }, "stopping");
    await served.server.stop(signal === "SIGINT" ? { drainMs: 0 } : {});
    logger.info("stopped");
  } finally {
    await served?.server.stop({ drainMs: 0 });
    await searchCopy?.close();
    await store.close();
    yieldFile?.();
    await tracing?.stop();
  }
}

export function register(command: Command): void {
  const serving = command.command("serve").description("answers the registry's API and pages").action(serve);
  for (const entry of configTable) {
    const shown = entry.default === undefined ? "" : `; default ${entry.default}`;
    serving.option(`--${entry.name} <value>`, `${entry.help} (${envOf(entry)}${shown})`);
  }
}
