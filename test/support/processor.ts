/**
 * What work without waits takes of a processor, which other work on the machine does not make longer as it does the time by a clock.
 * @returns milliseconds of this process while it works
 */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
