/** Runs test files one after another in this process, which loads what they share once: `node together.ts FILE...`. */
import { pathToFileURL } from "node:url";
import { BEGINS, ENDS, type Ending, processorSeconds } from "./test-file.js";

/** What uvu looks at when it is loaded: whether somebody else runs what files add, and to which list they add it. */
interface UvuGlobals {
  UVU_DEFER?: boolean;
  UVU_QUEUE?: unknown[][];
}

(globalThis as UvuGlobals).UVU_DEFER = true;
const { exec } = await import("uvu");
// The list itself is uvu's: it is emptied, and never another.
const queue = (globalThis as UvuGlobals).UVU_QUEUE!;

let code = 0;
for (const [at, file] of process.argv.slice(2).entries()) {
  const [began, before] = [performance.now(), processorSeconds()];
  // On both: the runner reads two pipes, whichever has something first.
  for (const stream of [process.stdout, process.stderr]) stream.write(`\n${BEGINS}${at}\n`);
  queue.splice(0, queue.length, [null]);
  process.exitCode = 0;
  try {
    await import(pathToFileURL(file).href);
    await exec();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  const ended: Ending = {
    code: Number(process.exitCode),
    seconds: (performance.now() - began) / 1_000,
    // The first one's are those of loading too.
    processor: processorSeconds() - (at === 0 ? 0 : before),
  };
  process.stdout.write(`\n${ENDS}${at} ${JSON.stringify(ended)}\n`);
  code ||= ended.code;
}
process.exitCode = code;
