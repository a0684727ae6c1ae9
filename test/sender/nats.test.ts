/** The cases of every sender, with events handed out by NATS. */
import { test } from "uvu";
import { natsQueue } from "../../runtime/queue/index.js";
import { cellsOf } from "../support/cells.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { onPostgres } from "./on-postgres.js";

if (hasNats()) {
  const nats = await startNats();
  // The tests' clock jumps, and no schedule of a server's with it: what is due is put in at once.
  const stop = await onPostgres("sender on nats", {
    queue: natsQueue({ servers: nats.url, resendMs: 0 }),
    chosen: (names) => cellsOf("ADBIND_CELLS=all ./run test test/sender/nats", names, 3),
  });
  test.after(async () => {
    await stop();
    await nats.stop();
  });
} else console.log(NO_NATS);

test("the servers are stopped", () => undefined);
test.run();
