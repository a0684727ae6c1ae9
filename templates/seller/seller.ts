/** Puts the parts together: the store, what it starts with, the tools, and what this seller claims. */
import type { JsonObject } from "adbind/contract";
import { type AuthHook, createSeller, type Seller } from "adbind/seller";
import { createSender, type Sender } from "adbind/sender";
import { openStore } from "adbind/store";
import { release } from "#bindings";
import { capabilities } from "./capabilities.js";
import { fixtures } from "./fixtures.js";
import { bind, type Call, readingCall, type Settings, standingCall, type Tx } from "./handler.js";
import { reports } from "./reports.js";
import { routes } from "./routes.js";
import { scenarios } from "./scenarios.js";
import { openShelf, type Shelf } from "./shelf.js";
import { specialisms } from "./specialisms.js";
import { tools } from "./tools/index.js";

export interface SellerConfiguration {
  /** Where its state is: `sqlite:<file>`, or `postgres://...`, which any number of processes may share. */
  readonly database: string;
  /** Where callers reach this seller, without a path. */
  readonly baseUrl: string;
  /**
   * Development has the test controller, refuses its own answers that break the release's schemas, and delivers webhooks
   * to this machine and over plain http too.
   */
  readonly mode: "development" | "production";
  /** Private JWK that signs webhooks; its public part is published. */
  readonly key: object & { readonly kid: string };
  /** Guaranteed orders from this much on wait for a human's signature. Default 50,000 of the order's currency. */
  readonly signedFrom?: number;
  /** In development, where nobody signs: an order also works and asks for approval on its way. Default false. */
  readonly signingSteps?: boolean;
  /** Who may call: `tokenAuth`, `jwtAuth` or your own. Everybody, as one caller, by default; production does not start without. */
  readonly auth?: AuthHook;
}

const CONTROLLER = "comply_test_controller";

/** Scenarios the release lets a seller declare. */
const declarable = new Set([
  "force_creative_status",
  "force_account_status",
  "force_media_buy_status",
  "force_session_status",
  "simulate_delivery",
  "simulate_budget_spend",
]);

/** Opens the database and makes the seller; `start` makes it listen, `close` leaves nothing open. */
export async function openSeller(configuration: SellerConfiguration) {
  const { database, baseUrl, mode, key, auth, signedFrom = 50_000, signingSteps = false } = configuration;
  const store = await openStore(database);
  const shelf = await openShelf(store, fixtures);
  const development = mode === "development";
  const signing = { key, keyid: key.kid };
  const net = { allowHttp: development, allowLoopback: development };
  const settings: Settings = { agentUrl: `${baseUrl}/mcp`, name: "__SELLER_NAME__", signing, signedFrom, signingSteps };
  const options = { store: store as never, release, signer: signing, net, mode, ...reporting(settings, shelf) };
  const sender = (await createSender(options)) as Sender;
  const handlers = Object.entries(tools).filter(([name]) => development || name !== CONTROLLER);
  const seller: Seller<Tx> = await createSeller({
    release,
    specialisms,
    tools: bind(Object.fromEntries(handlers) as typeof tools, settings, shelf),
    store,
    baseUrl,
    name: settings.name,
    mode,
    capabilities: declared(development),
    sender,
    signing,
    ...(auth !== undefined && { auth }),
  });
  for (const add of routes) add(seller.app, shelf);
  sender.start();
  return {
    seller,
    /** A call on behalf of a caller, for what goes on after an answer. */
    callFor: (principal: string): Promise<Call> =>
      standingCall(settings, shelf, { principal, release, mode, sender: sender as never }),
    async close(): Promise<void> {
      await seller.close();
      await sender.stop();
      await store.close();
    },
  };
}

/** Where delivery is known, buyers may have reports of it sent to them. */
function reporting(settings: Settings, shelf: Shelf) {
  if (reports.length === 0) return {};
  return {
    reports: async ({ mediaBuyId, principal }: { mediaBuyId: string; principal: string }) => {
      const call = await readingCall(settings, shelf, principal);
      for (const make of reports) {
        const report = make(call, { mediaBuyId });
        if (report !== undefined) return report;
      }
      throw new Error(`no media buy ${mediaBuyId}`);
    },
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parts of areas, laid over each other member by member. */
function merge(base: JsonObject, more: JsonObject): JsonObject {
  const merged = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

/** Protocols of what is claimed, and of what could be: the tools its specialisms begin with are all there. */
function protocols(): string[] {
  const served = new Set<string>(Object.keys(tools));
  const spoken = Object.entries(release.specialisms).filter(([id, { entryPoints }]) => {
    const claimed = (specialisms as readonly string[]).includes(id);
    return claimed || (entryPoints.length > 0 && (entryPoints as readonly string[]).every((tool) => served.has(tool)));
  });
  return [...new Set(spoken.map(([, { protocol }]) => protocol.replaceAll("-", "_")))].sort();
}

function declared(development: boolean): JsonObject {
  const served = new Set(Object.keys(tools));
  const parts = capabilities.map((part) => (typeof part === "function" ? part(served) : part));
  const own = parts.reduce(merge, { supported_protocols: protocols() });
  const forced = Object.keys(scenarios).filter((name) => declarable.has(name));
  const controlled = development && CONTROLLER in tools && forced.length > 0;
  return { ...own, ...(controlled && { compliance_testing: { scenarios: forced } }) };
}
