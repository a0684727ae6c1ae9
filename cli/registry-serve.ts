/** `adbind registry serve`: a registry that works from the first start, and stops without losing a request. */
import type { Command } from "commander";
import { pino } from "pino";
import { configTable, envOf, type RegistryConfig, readConfig } from "../runtime/registry/server/config.js";
import { openStore } from "../runtime/store/index.js";
import { shownPath } from "./output.js";
import { placeOf } from "./registry-store.js";

const shownStore = (store: string): string =>
  store.startsWith("sqlite:") ? `sqlite:${shownPath(store.slice("sqlite:".length))}` : (store.split("@").at(-1) ?? "");

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
const signalled = (): Promise<"SIGTERM" | "SIGINT"> =>
  new Promise((resolve) => {
    let asked = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        resolve(signal);
      });
    }
  });

const greeting = ({ baseUrl }: RegistryConfig, address: string, store: string): string =>
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
  const place = placeOf(config.store);
  // Lines go to stderr: stdout is for what the command says.
  const logger = pino({ name: "adbind-registry", level: config.logLevel }, pino.destination(2));
  const store = await openStore(place);
  try {
    const { crawling, drainMs, port, host, baseUrl, trustedProxies, searchDiscovered, embeddedIssuer, issuers } =
      config;
    const registry = await createRegistry({
      store,
      baseUrl,
      trustedProxies,
      searchDiscovered,
      embeddedIssuer,
      issuers,
      logger,
      drainMs,
      crawling,
      limits: config.limits,
      bodyLimitBytes: config.bodyLimitBytes,
      ...(tracing !== undefined && { tracer: tracing.tracer }),
    });
    const stopped = signalled();
    const address = await registry.listen({ host, port });
    console.log(greeting(config, address, place));
    const signal = await stopped;
    logger.info({ signal }, "stopping");
    await registry.stop(signal === "SIGINT" ? { drainMs: 0 } : {});
    logger.info("stopped");
  } finally {
    await store.close();
    await tracing?.stop();
  }
}

export function register(command: Command): void {
  const serving = command.command("serve").description("answers the registry's API and pages").action(serve);
  for (const entry of configTable) {
    const shown = entry.standard === undefined ? "" : `; default ${entry.standard}`;
    serving.option(`--${entry.name} <value>`, `${entry.help} (${envOf(entry)}${shown})`);
  }
}
