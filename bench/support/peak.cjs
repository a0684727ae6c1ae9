/**
 * Preloaded into a measured process (`node --require`): says at its end how much memory and processor it took. CommonJS, so
 * that it does not start the module loader a measured process may never start.
 *
 * Linux keeps the peak of this program alone in VmHWM; `resourceUsage().maxRSS` would also hold that of the bench, whose
 * copy every child is before it becomes another program.
 */
const fs = require("node:fs");

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const status = process.platform === "linux" ? fs.readFileSync("/proc/self/status", "utf8") : "";
  const peak = /VmHWM:\s+(\d+) kB/.exec(status);
  const peakBytes = (peak === null ? maxRSS : Number(peak[1])) * 1024;
  fs.writeFileSync(
    process.env.ADBIND_PEAK_FILE,
    JSON.stringify({ peakBytes, cpuMs: (userCPUTime + systemCPUTime) / 1e3 }),
  );
});
