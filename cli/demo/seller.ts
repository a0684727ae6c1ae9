/** A seller as `adbind new seller` makes it, served from source. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { adbind, root, type Started, start } from "./processes.js";

export interface RunningSeller extends Started {
  readonly name: string;
  readonly database: string;
  /** Its MCP address, by which it is known. */
  readonly agentUrl: string;
  readonly brandUrl: string;
}

/**
 * The project's seller with a person of the demo's own: an order is drawn up, a question is asked of the buyer, and then it is
 * signed. In place of the project's `serve.ts`.
 */
const STAFFED = `import { fromEnvironment } from "adbind/behaviours";
import { adServer } from "./ad-server.js";
import { catalogue } from "./catalogue.js";
import { openMySeller } from "./seller.js";

const step = () => new Promise((resolve) => setTimeout(resolve, 400));
const approvals = { ask: async () => ({ decision: "wait", message: "Somebody has to sign the order." }) };

const sign = async (taskId, principal) => {
  const task = seller.seller.task(taskId);
  await step();
  await task.working({ percentage: 50, current_step: "insertion order drawn up" });
  await step();
  await task.inputRequired({ reason: "APPROVAL_REQUIRED" });
  await step();
  await seller.decide({ principal, taskId, approved: true });
};

const { listen, ...settings } = await fromEnvironment(process.env);
const seller = await openMySeller({
  ...settings,
  ports: { adServer, catalogue, approvals },
  tools: (own) => ({
    async create_media_buy(request, ctx) {
      const reply = await own.create_media_buy(request, ctx);
      if (reply.status === "submitted") sign(ctx.taskId, ctx.principal).catch(console.error);
      return reply;
    },
  }),
});
process.stdout.write(\`\${await seller.start(listen)}/mcp\n\`);
// Whoever drew them up was killed with the process.
for (const { id: taskId, principal } of await seller.seller.unfinished()) {
  seller.decide({ principal, taskId, approved: true }).catch(console.error);
}
process.once("SIGTERM", () => seller.close().catch(console.error));
`;

/** Scaffolds a project that claims `sales_guaranteed`; adbind is linked instead of installed. */
export async function scaffoldSeller(folder: string, release: string): Promise<void> {
  await adbind(["new", "seller", folder, "--specialism", "sales_guaranteed", "--release", release]);
  for (const made of ["node_modules/@types", "data"]) mkdirSync(path.join(folder, made), { recursive: true });
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  symlinkSync(path.join(root, "cli"), path.join(folder, "node_modules/adbind-cli"));
  writeFileSync(path.join(folder, "src/staffed.ts"), STAFFED);
  symlinkSync(path.join(root, "node_modules/@types/node"), path.join(folder, "node_modules/@types/node"));
}

export interface SellerPlan {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** `sqlite:<file>` or `postgres://...` */
  readonly database: string;
}

export async function startSeller({ name, folder, port, database }: SellerPlan): Promise<RunningSeller> {
  const started = await start("src/staffed.ts", [], {
    cwd: folder,
    env: { PORT: String(port), DATABASE_URL: database, DATA: path.join(folder, "data") },
    ready: /\/mcp$/,
  });
  const origin = new URL(started.line).origin;
  return { ...started, name, database, agentUrl: `${origin}/mcp`, brandUrl: `${origin}/.well-known/brand.json` };
}
