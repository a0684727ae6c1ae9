/** The seller: what it claims, and the ports that are yours. What it does comes with adbind. */
import { type BehavingSellerOptions, openSeller, type Ports } from "adbind/behaviours";
import { release } from "#bindings";
import { adServer } from "./ad-server.js";
import { catalogue } from "./catalogue.js";

export const specialisms = ["sales_guaranteed"] as const;

/** Ports that are left out have a default that works: approvals, accounts, creatives, signals, reporting, events. */
const ports: Partial<Ports> = { adServer, catalogue };

/** Where it runs and who may call: serve.ts has them from the environment. Any option may be set here instead. */
type Settings = Omit<BehavingSellerOptions<typeof release>, "release" | "specialisms" | "name" | "ports" | "tools">;

export const openMySeller = (settings: Settings) =>
  openSeller({
    release,
    specialisms,
    name: "__SELLER_NAME__",
    ports,
    // A tool answered by yourself; `own` has the library's, to go on from.
    tools: (own) => ({
      async get_products(request, ctx) {
        ctx.logger?.info({ caller: ctx.principal }, "get_products");
        return own.get_products(request, ctx);
      },
    }),
    ...settings,
  });
