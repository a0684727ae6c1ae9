/**
 * Processes of the registry's bench: `generate` writes an inventory, `import` takes it in, `serve` answers requests until
 * its input ends. Each reports a line of JSON. Arguments: kind, store; a file, a size, or the parts of the search's index.
 */

import { once } from "node:events";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import type { SearchParts } from "../../runtime/registry/types.js";
import { openStore } from "../../runtime/store/index.js";
import { type InventorySize, inventory } from "./inventory.js";

const [kind, place, argument] = process.argv.slice(2) as [string, string, string?];
const report = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** Largest resident set and the present one, in bytes. */
function memory(): { peak: number; now: number } {
  const status = readFileSync("/proc/self/status", "utf8");
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) * 1024;
  return { peak: of("VmHWM"), now: of("VmRSS") };
}

async function generate(): Promise<void> {
  const output = createWriteStream(place);
  for (const line of inventory(JSON.parse(argument!) as InventorySize))
    if (!output.write(`${JSON.stringify(line)}\n`)) await once(output, "drain");
  output.end();
  await once(output, "finish");
  report({});
}

async function take(): Promise<void> {
  const store = await openStore(place);
  const started = performance.now();
  const lines = createInterface({
    input: createReadStream(argument!, { highWaterMark: 1 << 20 }),
    crlfDelay: Infinity,
  });
  const { properties } = await importRegistry(store, lines);
  const seconds = (performance.now() - started) / 1_000;
  await store.close();
  report({ properties, seconds, ...memory() });
}

async function serve(): Promise<void> {
  // As the command does it: an import loads no server.
  const { createRegistry } = await import("../../runtime/registry/server/app.js");
  const { accountsOf } = await import("../../runtime/registry/server/auth/accounts.js");
  const store = await openStore(place);
  const parts = argument === undefined ? {} : { searchParts: JSON.parse(argument) as SearchParts };
  const registry = await createRegistry({ store, crawling: "off", limits: false, embeddedIssuer: false, ...parts });
  const accounts = accountsOf(registry.access, Date.now);
  const { id } = await accounts.addOrganization({ name: "Bench", tier: "company_standard" });
  const { key } = await accounts.addKey(id, "bench");
  const started = performance.now();
  await registry.data.warm();
  const warmMs = performance.now() - started;
  const address = await registry.listen({ port: 0, host: "127.0.0.1" });
  report({ address, key, warmMs });
  process.stdin.resume();
  await once(process.stdin, "end");
  report(memory());
  await registry.stop();
  await store.close();
}

const kinds: Record<string, () => Promise<void>> = { generate, import: take, serve };
await kinds[kind]!();
