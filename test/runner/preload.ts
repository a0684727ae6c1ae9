/**
 * Preloaded into a test file's process: at the end it tells the processor time that it and the processes it waited for
 * took, which other work on the machine does not change much; and it ends where its runner is killed.
 */
import { writeSync } from "node:fs";
import { PROCESSOR, processorSeconds, startedByRunner } from "./test-file.js";

if (startedByRunner()) {
  process.on("exit", () => {
    // Nobody may be there to read it.
    if (process.connected) writeSync(2, `\n${PROCESSOR}${processorSeconds().toFixed(2)}\n`);
  });
  process.once("disconnect", () => process.exit(1));
  process.channel?.unref();
}
