/**
 * `./run soak --cluster [--minutes N | --fail-overs N] [--asynchronous]`: the demo's market on three PostgreSQL under Patroni,
 * while the node of the primary is killed, frozen and switched over in turn; then the books.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { openMarket } from "../../cli/demo/market.js";
import { root } from "../../cli/demo/processes.js";
import { count, positive, script } from "../../cli/script.js";
import { soakCluster } from "./cluster-soak.js";

const { minutes, failOvers, asynchronous, port } = script(
  "soak",
  "the demo's market on a PostgreSQL whose primary dies",
)
  .requiredOption(
    "--cluster",
    "on three PostgreSQL under Patroni, whose primary is killed, frozen and switched over in turn",
  )
  .option("--minutes <n>", "how long", positive, 10)
  .option("--fail-overs <n>", "so many, however long it takes", count)
  .option("--asynchronous", "commits are answered before a second node has them; what is lost is counted", false)
  .option("--port <n>", "first of the ports used; some ten others follow", count, 19_900)
  .parse()
  .opts<{
    readonly minutes: number;
    readonly failOvers?: number;
    readonly asynchronous: boolean;
    readonly port: number;
  }>();
const close = willClose("fail-overs");
const home = path.join(root, ".cache/soak", String(port));
const clockFile = path.join(home, "clock");
const [sellers, receivers] = [2, 3];
rmSync(home, { recursive: true, force: true });
mkdirSync(home, { recursive: true });
writeFileSync(clockFile, "0");
const howLong = failOvers === undefined ? `${minutes} minutes` : `${failOvers} fail-overs`;
console.log(`A market of ${sellers} sellers and ${receivers} receivers, for ${howLong}`);
const totals = await soakCluster({
  ...{ sellers, minutes, failOvers, asynchronous, clockFile },
  open: (databases) =>
    openMarket({
      ...{ home, sellers, receivers, clockFile, port, databases },
      ...{ weather: Math.random, say: () => undefined },
    }),
  say: (line) => console.log(line),
});
close(totals);
