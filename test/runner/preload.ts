/**
 * Preloaded into a test file's process: at the end it tells the processor time that it and the processes it waited for
 * took, which other work on the machine does not change much; and it ends where its runner is killed.
 */
import { readFileSync, writeSync } from "node:fs";
import { PROCESSOR, startedByRunner } from "./test-file.js";

/** Ticks in a second of the clock by which Linux tells processes their times. */
const TICKS = 100;

function processorSeconds(): number {
  try {
    const text = readFileSync("/proc/self/stat", "utf8");
    // A name with spaces stands in parentheses; utime, stime, cutime and cstime are the 14th to the 17th field.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

if (startedByRunner()) {
  process.on("exit", () => {
    // Nobody may be there to read it.
    if (process.connected) writeSync(2, `\n${PROCESSOR}${processorSeconds().toFixed(2)}\n`);
  });
  process.once("disconnect", () => process.exit(1));
  process.channel?.unref();
}
