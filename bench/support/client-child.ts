/**
 * The client's process: takes loads, a line of JSON each, and answers each with its latencies. Arguments: the origin, and
 * headers as JSON.
 */
import { createInterface } from "node:readline";
import type { Load } from "./client.js";
import { openLoop } from "./open-loop.js";
import { createReader } from "./reader.js";

const [origin, headers] = process.argv.slice(2) as [string, string];
const reader = createReader(origin, JSON.parse(headers) as Record<string, string>);

for await (const line of createInterface({ input: process.stdin })) {
  const { rate, count, requests } = JSON.parse(line) as Load;
  const ready = requests.map(({ path, body }) => [path, body && JSON.stringify(body)] as const);
  const measured = await openLoop(rate, count, (n) => reader.read(...ready[n % ready.length]!));
  process.stdout.write(`${JSON.stringify(measured.sorted)}\n`);
}
reader.close();
