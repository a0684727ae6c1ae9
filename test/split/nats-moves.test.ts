/** Moves of principals whose events NATS hands out. */
import { test } from "uvu";
import { natsQueue } from "../../runtime/queue/index.js";
import { cellsOf } from "../support/cells.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { postgresGround } from "./databases.js";
import { principalCase } from "./principals.case.js";

if (hasNats()) {
  const [databases, nats] = await Promise.all([postgresGround(), startNats()]);
  const names = ["moved", "leased", "traffic"] as const;
  const ground = { ...databases, name: "nats", queue: natsQueue({ servers: nats.url }) };
  principalCase(ground, cellsOf("ADBIND_CELLS=all ./run test test/split/nats-moves", names, 1));
  test.after(() => nats.stop());
} else console.log(NO_NATS);

test("the servers are stopped", () => undefined);
test.run();
