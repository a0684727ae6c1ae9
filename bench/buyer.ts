/** What a buyer costs before it calls anybody: cold processes on the built package, against a bare node run in turn. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buyerPeerRows } from "./support/buyer-peer.js";
import { measure } from "./support/measure.js";
import { buildPackage } from "./support/package.js";
import type { Row } from "./support/row.js";
import { makeUserProject } from "./support/user.js";

const root = path.resolve(import.meta.dirname, "..");
/** Processes per figure: of milliseconds, where one page fault shows. */
const RUNS = 11;
/** What a peer SDK's client was measured to cost over bare node, on the same kind of machine. */
const PEER = "a peer SDK's client: 450 ms, 88 MB";
const RELEASE = "3.1.0";

const megabytes = (bytes: number): number => bytes / 1e6;

/** What must not be loaded before a call is made. */
const sdks = /node_modules\/(@modelcontextprotocol|@a2a-js|ajv|undici)\//;

export async function run(): Promise<Row[]> {
  const scratch = mkdtempSync(path.join(tmpdir(), "adbind-bench-buyer-"));
  try {
    const built = buildPackage(path.join(scratch, "adbind"));
    const { folder } = makeUserProject(path.join(scratch, "user"), built, path.join(root, "generated", RELEASE));
    const write = (name: string, text: string): string => {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    const imports = `import { createBuyer } from "adbind/buyer";\nimport { release } from "./compiled/index.js";\n`;
    const made = `${imports}const buyer = createBuyer({ release, agent: "https://seller.example/mcp" });\n`;
    const use = write("import.mjs", `${made}console.log(typeof buyer.tools.create_media_buy);\n`);
    const bare = write("bare.mjs", 'console.log("function");\n');
    const loaded = write(
      "loaded.mjs",
      `import { registerHooks } from "node:module";\nlet sdks = 0;\nregisterHooks({ load(url, context, next) { if (${sdks}.test(url)) sdks += 1; return next(url, context); } });\nawait import(${JSON.stringify(use)});\nconsole.log("SDK modules " + sdks);\n`,
    );
    const prints = /function/;
    const cost = await measure({ bare: { args: [bare], prints }, use: { args: [use], prints } }, RUNS);
    await measure({ loaded: { args: [loaded], prints: /SDK modules 0\n/ } }, 1);
    const note = `${cost.use.ms.toFixed(0)} ms against ${cost.bare.ms.toFixed(0)} ms; no transport SDK is loaded; ${PEER}`;
    return [
      {
        name: "import of adbind/buyer and one release, above bare node",
        value: cost.use.ms - cost.bare.ms,
        unit: "ms",
        target: { max: 100 },
        floor: { of: "bare node", times: cost.use.ms / cost.bare.ms },
        note,
      },
      {
        name: "processor time of the same",
        value: cost.use.cpuMs - cost.bare.cpuMs,
        unit: "ms",
        floor: { of: "bare node", times: cost.use.cpuMs / cost.bare.cpuMs },
        note: "tells more than the clock on a busy machine",
      },
      {
        name: "memory of the same",
        value: megabytes(cost.use.peakBytes - cost.bare.peakBytes),
        unit: "MB",
        floor: { of: "bare node", times: cost.use.peakBytes / cost.bare.peakBytes },
        note: PEER,
      },
      ...(await buyerPeerRows()),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
