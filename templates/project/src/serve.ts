/** Makes the seller listen. Settings come from the environment; see README.md. */
import { fromEnvironment } from "adbind/behaviours";
import { openMySeller } from "./seller.js";

const { listen, ...settings } = await fromEnvironment(process.env);
const seller = await openMySeller(settings);
process.stdout.write(`${await seller.start(listen)}/mcp\n`);

// Takes no more calls, waits for those under way, and leaves the rest for the next start.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void seller.close());
