/** `adbind registry serve`: a registry that works from the first start, and stops without losing a request. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Command } from "commander";
import { pino } from "pino";
import type { Registry } from "../runtime/registry/server/app.js";
import { envOf, readConfig } from "../runtime/registry/server/config.js";
import { configTable } from "../runtime/registry/server/config-table.js";
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

async function listen(registry: Registry, where: { host: string; port: number }): Promise<string> {
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

async function serve(given: Record<string, string | undefined>): Promise<void> {
  // Commander names options in camel case.
  const flags = Object.fromEntries(
    configTable.map(({ name }) => [name, given[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]]),
  );
  const config = readConfig(flags, process.env);
  const { createRegistry } = await import("../runtime/registry/server/app.js");
  const { startTracing } = await import("../runtime/registry/server/tracing.js");
  const tracing = config.otlpEndpoint === undefined ? undefined : startTracing(config.otlpEndpoint);
  // Lines go to stderr: stdout is for what the command says.
  const logger = pino({ name: "adbind-registry", level: config.logLevel }, pino.destination(2));
  const { migrate, listenUrl } = config;
  const opening = { migrate, ...(listenUrl !== undefined && { listenUrl }) };
  const store = await openNamedStore(config.store, "create", opening);
  let registry: Registry | undefined;
  let searchCopy: AnyStore | undefined;
  try {
    // A replica has the schema of its store, and takes no other.
    if (config.searchStore !== undefined)
      searchCopy = await openNamedStore(config.searchStore, "read", { migrate: false });
    const { search } = config;
    const { crawling, drainMs, host, trustedProxies, searchDiscovered, pageSearch, probing, embeddedIssuer, issuers } =
      config;
    const port = config.port === 0 ? await freePort(host) : config.port;
    const baseUrl = config.baseUrl ?? `http://localhost:${port}`;
    registry = await createRegistry({
      store,
      baseUrl,
      trustedProxies,
      searchDiscovered,
      search,
      searchCopy,
      pageSearch,
      probing,
      embeddedIssuer,
      issuers,
      logger,
      drainMs,
      crawling,
      limits: config.limits,
      bodyLimitBytes: config.bodyLimitBytes,
      ...(tracing !== undefined && { tracer: tracing.tracer }),
    });
    const stopped = Promise.withResolvers<Signal>();
    onSignal(stopped.resolve);
    const address = await listen(registry, { host, port });
    console.log(greeting(baseUrl, address, config.store));
    const signal = await stopped.promise;
    logger.info({ signal }, "stopping");
    await registry.stop(signal === "SIGINT" ? { drainMs: 0 } : {});
    logger.info("stopped");
  } finally {
    await registry?.stop({ drainMs: 0 });
    await searchCopy?.close();
    await store.close();
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
