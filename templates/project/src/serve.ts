/** Makes the seller listen. Settings come from the environment; see README.md. */
import { fromEnvironment } from "adbind/behaviours";
import { openMySeller } from "./seller.js";

const failed = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
};

try {
  const { listen, ...settings } = await fromEnvironment(process.env);
  const seller = await openMySeller(settings);
  process.stdout.write(`${await seller.start(listen)}/mcp\n`);
  if (seller.missing.length > 0) process.stderr.write(`nobody answers: ${seller.missing.join(", ")}\n`);
  // Takes no more calls, waits for those under way, and leaves the rest for the next start. A second signal ends it at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void seller.close().catch(failed));
} catch (error) {
  failed(error);
}
