/** Puts the parts together: handlers in, a server out. */
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { AnyTool, JsonObject, Release, TransportName } from "../contract/index.js";
import type { Database } from "../db/types.js";
import type { AdbindError } from "../errors.js";
import { stubTool } from "../facts/stub-tool.js";
import { loadPeer } from "../peer.js";
import { tellLog } from "../queue/periodic.js";
import { refuseSplit } from "../store/alone.js";
import { storeIdentity } from "../store/identity.js";
import { type SellerDatabase, sellerDatabase } from "../store/seller-tables.js";
import type { Answerer, Call, CallAnswer } from "../transport/answerer.js";
import { answerers } from "../transport/answerers.js";
import { agentTasks } from "./agent-tasks.js";
import { answerCall, type SellerCallDependencies } from "./call.js";
import { deriveCapabilities, filterCapabilities } from "./capabilities.js";
import { type Endpoint, endpointsOf, settingsAt, transportPath } from "./endpoint.js";
import { mediaBuyPlug } from "./media-buys.js";
import { type MountedSeller, mountOf } from "./mount.js";
import { createServedRelease, newestStable, type ServedRelease, type ServedTool } from "./served-releases.js";
import type { ServedEndpoint } from "./server.js";
import { badSellerOption, builtInNames, checkedSellerSettings, type SellerSettings } from "./settings.js";
import { getTaskStatus, listTasks } from "./task-tools.js";
import { createTaskRepository } from "./tasks.js";
import { failurePayload } from "./tool-error.js";
import type { SellerHandler, SellerOptions, SellerStore, TaskHandle, TxOf, UnfinishedTask } from "./types.js";
import { untoldFaults } from "./untold-faults.js";
import { sellerUpkeep } from "./upkeep.js";

/** An agent that answers tools over MCP and A2A. */
export interface Seller<Tx = unknown> {
  /** The HTTP server; further routes and plugins may be added before it starts. */
  readonly app: FastifyInstance;
  /**
   * Listens. @returns where, without a path
   */
  start(options?: { readonly port?: number; readonly host?: string }): Promise<string>;
  /** Begins without a server of its own, inside somebody else's; `close` ends that too. */
  mount(): Promise<MountedSeller>;
  /** Takes no more calls, waits for those under way, and up to 5 s for what goes on after them. The store stays open. */
  close(): Promise<void>;
  /** Names the database its state is in, the same for whatever else is on it. */
  storeIdentity(): Promise<string>;
  /** A task by its id, to be changed from anywhere: another process on the same store may have opened it. */
  task<T = AnyTool>(taskId: string): TaskHandle<T, Tx>;
  /**
   * Tasks that are not over, oldest first, of all processes on the store: `heldUntil` tells of those that one is at work on. What a process
   * that is gone was to do later is for `resume`, or is carried on with `task(id)` by whoever has looked here.
   * @param after Unix milliseconds; tasks made from then on
   * @param limit default 100
   */
  unfinished(after?: number, limit?: number): Promise<readonly UnfinishedTask[]>;
  /** What it declares, in the terms of the newest release. */
  readonly capabilities: JsonObject;
  /** Answers a call without a transport; for tests and for servers of one's own. */
  call(call: Call): Promise<CallAnswer>;
}

const noBaseUrl = (): AdbindError =>
  badSellerOption("baseUrl", "give the URL that callers elsewhere reach it by", "it is to listen to others");

/** A store for as long as the seller is there. */
const passingStore = async () => (await import("../store/index.js")).temporaryStore();

const isThisMachine = (host: string): boolean => /^(localhost|127\.[\d.]+|::1)$/.test(host);

/** How long answers under way in somebody else's server are waited for, in milliseconds. */
const MOUNTED_MS = 5_000;
/** What it serves HTTP with. */
const SERVER = ["fastify", "@fastify/cors", "@fastify/rate-limit"];
/** Tasks told of at once. */
const UNFINISHED = 100;

/**
 * Makes a seller.
 * @throws AdbindError `seller_option_invalid` for options that cannot work: a missing tool of a claimed specialism, a
 *   declaration the release does not allow
 */
export async function createSeller<
  R extends Release,
  S extends keyof R["specialisms"] & string = never,
  St extends SellerStore = SellerStore,
>(options: SellerOptions<R, S, St>): Promise<Seller<TxOf<St>>> {
  type Tx = TxOf<St>;
  const checked = checkedSellerSettings<Tx>(options);
  const passing = options.store === undefined ? await passingStore() : undefined;
  const settings = passing === undefined ? checked : { ...checked, store: passing.store };
  const database = await databaseOf<Tx>(settings.store);
  const [current, ...others] = endpointsOf(settings.releases);
  const releasesAt = async (at: Endpoint) => servedReleasesOf(settingsAt(settings, at), database);
  const main = await releasesAt(current);
  const plug = mediaBuyPlug({ sender: settings.sender, database });
  const repository = createTaskRepository({ settings, database, servedReleases: main.servedReleases, plug });
  const { now, uuid, limits } = settings;
  const replayMs = settings.replayTtlSeconds * 1_000;
  const telling = tellLog(settings.logger);
  const closing = new AbortController();
  const idempotency = { database, now, uuid, replayMs, waitMs: limits.inFlightWaitMs, telling };
  const serve = (at: Endpoint, { servedReleases }: ServedReleases<Tx>): Promise<ServedEndpoint<Tx>> =>
    servedEndpoint(
      at,
      { settings: settingsAt(settings, at), servedReleases, database, repository, plug, idempotency },
      closing.signal,
    );
  const first = await serve(current, main);
  const more: ServedEndpoint<Tx>[] = [];
  for (const at of others) more.push(await serve(at, await releasesAt(at)));
  const { createApp } = await loadPeer(SERVER, "a seller", () => import("./server.js"));
  const { app, owns } = await createApp({ settings, endpoints: [first, ...more] });
  const upkeep = sellerUpkeep(database, settings);
  const mounted = mountOf(app, owns, settings.logger);
  return {
    app,
    async mount() {
      await app.ready();
      upkeep.start();
      repository.resuming.start();
      return mounted;
    },
    async start({ port = 0, host = "127.0.0.1" } = {}) {
      if (options.baseUrl === undefined && !isThisMachine(host)) throw noBaseUrl();
      const address = await app.listen({ port, host });
      upkeep.start();
      repository.resuming.start();
      return address;
    },
    async close() {
      closing.abort();
      await Promise.all([upkeep.stop(), repository.resuming.stop()]);
      await Promise.race([mounted.idle(), setTimeout(MOUNTED_MS, undefined, { ref: false })]);
      await app.close();
      await repository.close();
      await passing?.close();
    },
    storeIdentity: () => identityOf(settings.store),
    task: (taskId) => repository.handle(taskId),
    unfinished: (after = 0, limit = UNFINISHED) => repository.unfinished(after, limit),
    capabilities: main.declared.get(settings.releases[0]!.version)!,
    call: (call) => answerCall(first.calls, call),
  };
}

/** @throws AdbindError `split_invalid` for one database of several */
async function databaseOf<Tx>(store: SellerStore): Promise<SellerDatabase<Tx>> {
  if ("principals" in store) {
    const { splitSellerDatabase } = await import("../store/split/seller-database.js");
    return splitSellerDatabase<Tx>(store.principals);
  }
  await refuseSplit(store.database as Database, "principal");
  return sellerDatabase(store.database as Database as Database<Tx>);
}

/** Of several databases, which set they are. */
const identityOf = async (store: SellerStore): Promise<string> =>
  "principals" in store ? `split ${store.set().id}` : storeIdentity(store.database as Database);

interface ServedReleases<Tx> {
  /** Newest first. */
  readonly servedReleases: readonly ServedRelease<Tx>[];
  /** What the seller says of itself, by the version it is said in. */
  readonly declared: ReadonlyMap<string, JsonObject>;
}

/** The releases of one endpoint with what serves them. */
async function servedReleasesOf<Tx>(
  settings: SellerSettings<Tx>,
  database: SellerDatabase<Tx>,
): Promise<ServedReleases<Tx>> {
  const declared = new Map<string, JsonObject>();
  const servedReleases: ServedRelease<Tx>[] = [];
  for (const release of settings.releases) {
    const served = servedTools(settings, database, release, declared);
    servedReleases.push(await createServedRelease(release, served, await settings.validatorOf(release)));
  }
  for (const own of servedReleases)
    declared.set(own.release.version, deriveCapabilities(settings, servedReleases, own));
  return { servedReleases, declared };
}

async function servedEndpoint<Tx>(
  at: Endpoint,
  calls: SellerCallDependencies<Tx>,
  closing: AbortSignal,
): Promise<ServedEndpoint<Tx>> {
  const { settings, servedReleases, repository } = calls;
  // What is listed is what calls that pin nothing are judged by.
  const listed = newestStable(servedReleases)!;
  const { release } = listed;
  const shared = {
    name: settings.name,
    description: settings.description,
    version: release.version,
    bearer: settings.auth !== undefined && (settings.auth.challenge ?? "Bearer") === "Bearer",
    tools: offered(listed),
    documents: await release.schemas(),
    listing: settings.listing,
    profile: settings.a2aProfile,
    closing,
    // A tool the protocol has and this seller lacks is an answer with a code; any other name is a fault of the transport.
    knows: (tool: string) =>
      servedReleases.some((one) => one.tools.has(tool) || Object.hasOwn(one.release.tools, tool)),
    answer: (call: Call) => answerCall(calls, call),
    failure: (code: string, message: string) => failurePayload([{ code, message }], release),
    tasks: untoldFaults(agentTasks({ repository, database: calls.database, settings }), settings),
    ...{ now: settings.now, uuid: settings.uuid },
  };
  const open = async (transport: TransportName): Promise<[TransportName, Answerer]> => [
    transport,
    await answerers[transport]({ ...shared, url: `${settings.baseUrl}${transportPath(at, transport)}` }),
  ];
  const opened = Object.fromEntries(await Promise.all(settings.transports.map(open)));
  return { at, calls, answerers: opened };
}

/** Each tool once, under the name it is listed by. */
const offered = <Tx>({ tools }: ServedRelease<Tx>) => [
  ...new Map([...tools.values()].map(({ name, tool }) => [name, { name, tool }])).values(),
];

/** Every tool a release is served with, by every name it is called by. */
function servedTools<Tx>(
  settings: SellerSettings<Tx>,
  database: SellerDatabase<Tx>,
  release: Release,
  declared: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, ServedTool<Tx>> {
  const served = new Map<string, ServedTool<Tx>>();
  for (const [name, handle] of settings.handlers) {
    const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
    if (tool !== undefined) served.set(name, { name, tool, handle, builtIn: false, open: false });
  }
  const names = builtInNames(release);
  const sections = [
    ...new Set(Object.values(release.specialisms).map(({ protocol }) => protocol.replaceAll("-", "_"))),
  ];
  const own: readonly [names: readonly string[], handle: SellerHandler<AnyTool, Tx>, open: boolean][] = [
    [
      names.capabilities,
      (request: JsonObject, ctx) =>
        ctx.complete(filterCapabilities(declared.get(release.version)!, request.protocols, sections)),
      true,
    ],
    [names.task, getTaskStatus({ database }), false],
    [names.tasks, listTasks({ database }), false],
  ];
  for (const [aliases, handle, open] of own) {
    const given = aliases.find((name) => served.has(name));
    const name = aliases.find((one) => Object.hasOwn(release.tools, one)) ?? aliases[0]!;
    const tool = release.tools[name] ?? stubTool(name);
    const entry = given === undefined ? { name, tool, handle, builtIn: true, open } : { ...served.get(given)!, open };
    for (const alias of aliases) if (!served.has(alias)) served.set(alias, entry);
    if (given !== undefined) served.set(given, entry);
  }
  if (served.size === 0) throw badSellerOption("tools", "give at least one handler");
  return served;
}
