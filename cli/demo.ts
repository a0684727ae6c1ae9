/**
 * `./run demo [--postgres] [--stay]`: bindings from releases, then a registry, scaffolded sellers and a buyer on loopback,
 * with a network at its worst between them. Ends with what was sent, delivered and lost.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { keepAlone } from "./demo/alone.js";
import { showBindings } from "./demo/bindings.js";
import { startCluster } from "./demo/cluster.js";
import { openMarket } from "./demo/market.js";
import { root } from "./demo/processes.js";
import { tellStory } from "./demo/story.js";
import { script } from "./script.js";

const values = script("demo", "the whole market on this machine: bindings, registry, sellers, buyer")
  .option("--postgres", "two sellers and three receivers on one PostgreSQL, instead of embedded stores")
  .option("--stay", "leave it running until Ctrl-C")
  .parse()
  .opts<{ readonly postgres?: true; readonly stay?: true }>();
const home = path.join(root, ".cache/demo");
/** Says that a demo runs; the ports used follow. */
const PORT = 18_700;
const say = (line = ""): void => console.log(line);

async function show(): Promise<boolean> {
  const started = performance.now();
  const setup = process.env.ADBIND_SETUP_SECONDS;
  if (setup !== undefined) say(`Set-up took ${setup} s; it is not counted below.\n`);
  await keepAlone(PORT, "another ./run demo runs: wait for its end, or stop what listens there");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });

  say("1. Bindings from releases");
  await showBindings(home, say);

  const [sellers, receivers] = values.postgres ? [2, 3] : [1, 1];
  const shared = values.postgres ? await startCluster(sellers) : undefined;
  say(`2. A market on loopback${shared === undefined ? "" : ", on one PostgreSQL"}`);
  const market = await openMarket({
    home,
    sellers,
    receivers,
    port: PORT + 1,
    say,
    ...(shared && { databases: shared }),
  });
  try {
    const { lost, rows } = await tellStory(market);
    say("\n3. The books");
    market.timeline.table(rows);
    say(`\nDone in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    if (values.stay) await stay(market);
    return lost === 0;
  } finally {
    await market.close();
    await shared?.stop();
  }
}

async function stay({ registry, sellers }: Awaited<ReturnType<typeof openMarket>>): Promise<void> {
  say("\nStill there, until Ctrl-C:");
  say(`   ${registry.url}/   the registry's page; ${registry.url}/docs its API`);
  for (const { name, agentUrl, brandUrl } of sellers) say(`   ${agentUrl}   ${name}; its keys by way of ${brandUrl}`);
  await new Promise<void>((resolve) => process.once("SIGINT", () => resolve()));
}

try {
  process.exitCode = (await show()) ? 0 : 1;
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
