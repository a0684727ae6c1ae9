/** Kills registries in the middle of an import, then compares with the same import in peace. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createRegistryData } from "../../runtime/registry/data.js";
import { exportRegistry } from "../../runtime/registry/transfer/export.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { Children, type FaultsLedger, inFolder, judgeCounts } from "./registry-children.js";
import type { Engine } from "./registry-database.js";

/** Lines of one batch of an import; see `transfer/import.ts`. */
const BATCH_LINES = 1_000;

function importLines(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const domain = `i${index}.example`;
    return JSON.stringify({
      kind: "publisher",
      domain,
      crawl: {
        outcome: "valid",
        valid: true,
        method: "direct",
        crawled_at: "2026-03-02T10:00:00.000Z",
        validated_at: "2026-03-02T10:00:00.000Z",
      },
      adagents_json: {
        properties: [
          {
            property_id: "p0",
            property_type: "website",
            name: domain,
            identifiers: [{ type: "domain", value: domain }],
          },
        ],
        authorized_agents: [
          { url: `https://agent${index % 50}.example/`, authorization_type: "property_ids", property_ids: ["p0"] },
        ],
      },
    });
  });
}

async function exported(store: Parameters<typeof exportRegistry>[0]): Promise<string> {
  const lines: string[] = [];
  for await (const line of exportRegistry(store)) lines.push(line);
  return lines.join("\n");
}

/** An import under kills, begun again each time, against the same import in peace. */
export function runImportFaults(engine: Engine, kills: number): Promise<FaultsLedger> {
  const started = performance.now();
  return inFolder(engine, async (db, folder) => {
    const lines = importLines((kills + 2) * 2 * BATCH_LINES);
    const file = path.join(folder, "import.ndjson");
    writeFileSync(file, lines.join("\n"));
    let killed = 0;
    let resumed = 0;
    const kill = (name: string): void => {
      if (children.kill(name)) killed += 1;
    };
    const children: Children = new Children((line, name) => {
      if (line.startsWith("imported ")) resumed = Number(line.slice("imported ".length));
      else if (killed < kills) setTimeout(() => kill(name), Math.random() * 100);
    });
    const faults: string[] = [];
    for (let runs = 0; runs <= kills * 3 + 3; runs++) {
      const code = await children.spawn({ store: db.url, work: { kind: "import", file } });
      // Null is a kill: it is begun again.
      if (code !== null) break;
    }
    if (killed < kills) faults.push(`only ${killed} of ${kills} kills hit`);
    if (resumed === 0) faults.push("the last run began anew");
    const [store, peace] = [await db.open(), await db.fresh()];
    await importRegistry(peace, lines);
    if ((await exported(store)) !== (await exported(peace))) faults.push("it differs from an import in peace");
    const stats = await Promise.all([store, peace].map((one) => createRegistryData(one).stats()));
    if (JSON.stringify(stats[0]) !== JSON.stringify(stats[1])) faults.push(`counts differ: ${JSON.stringify(stats)}`);
    await store.close();
    await peace.close();
    await judgeCounts(db, (text) => void faults.push(text));
    const seconds = Math.round((performance.now() - started) / 1000);
    return { engine, kills: killed, told: lines.length, seconds, faults };
  });
}
