/** The server: an app with everything it needs, and its start and end. */
import rateLimit from "@fastify/rate-limit";
import { trace } from "@opentelemetry/api";
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from "fastify";
import { type Logger, pino } from "pino";
import { drainInTime } from "../../draining.js";
import { gatherBodies } from "../../gathering.js";
import type { RegistryAccess } from "../../store/index.js";
import { createCrawler } from "../crawl/index.js";
import { createRegistryData } from "../data.js";
import { createProber, type Prober } from "../probe/prober.js";
import type { PartEvent, RegistryData, RegistryDataOptions, SearchPartState } from "../types.js";
import type { RegistryServerDependencies } from "./api-request.js";
import { addIdentity, type OpenedIdentity, openIdentity } from "./auth/open.js";
import { serveBrowsers } from "./browsers.js";
import { readApiDocument } from "./document.js";
import { feedStreams } from "./feed-streams.js";
import { openFiles } from "./files.js";
import { checkedLimits, type Limits, rateCounter, rateStore } from "./limits.js";
import { addRoutes } from "./operations.js";
import { trustedProxies } from "./proxies.js";
import { addErrors, addHeaders } from "./replies.js";
import { checkedNumbers, type RegistryOptions } from "./settings.js";
import { createTelemetry, observeRequests, type Telemetry } from "./telemetry.js";
import { markKeeping, registryUpkeep } from "./upkeep.js";

/** A registry's server: its app, its data, who may use it. */
export interface Registry {
  /** The app, ready for `inject` and `listen`. */
  readonly app: FastifyInstance;
  readonly data: RegistryData;
  readonly access: RegistryAccess;
  /** Listens, and starts crawling. @returns the address it listens on */
  listen(where: { readonly host?: string; readonly port: number }): Promise<string>;
  /** Says it is unready, waits for the drain time, lets requests and crawls end, closes. The store stays open. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Longest a request may take to come in, in milliseconds: a slow sender holds a connection, and no more. */
const REQUEST_MS = 30_000;
/** Longest value in a path, in characters: an agent's URL, percent-encoded. */
const PATH_CHARACTERS = 8_192;

function newApp(options: RegistryOptions, log: Logger): FastifyInstance {
  const { bodyLimitBytes } = checkedNumbers(options);
  const app: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      // A caller's own is kept where it is one a log can hold.
      return typeof given === "string" && /^[\w.-]{1,128}$/.test(given) ? given : crypto.randomUUID();
    },
    trustProxy: trustedProxies(options.trustedProxies ?? []),
    requestTimeout: REQUEST_MS,
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength: PATH_CHARACTERS },
    // While it drains, what still comes in is answered; `stop` has told proxies before.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      reply.code(400).type("application/json").send({ error: "The URL is not well-formed" });
    },
  });
  drainInTime(app);
  gatherBodies(app);
  app.removeContentTypeParser("text/plain");
  app.decorateRequest("identity");
  return app;
}

interface State {
  stopping: boolean;
  /** The search's index was read. */
  warm: boolean;
}

/** What a search works with, as `/readyz` says it: where it is split, one part is enough, and answers name the others. */
function searchCheck(state: State, parts: readonly SearchPartState[] | undefined): string {
  if (!state.warm) return "reads its index";
  return parts?.every((one) => one.state !== "ok") ? "no part of the index answers" : "ok";
}

/** What `/readyz` says, part by part. */
const faultsOf =
  (
    { access, data }: Pick<RegistryServerDependencies, "access" | "data">,
    log: Logger,
    state: State,
  ): RegistryServerDependencies["faults"] =>
  async () => {
    const pinged = access.ping().then(
      () => true,
      (error: Error) => {
        log.warn({ err: error }, "the store does not answer");
        return false;
      },
    );
    const [answers, searchParts] = await Promise.all([pinged, data.searchParts()]);
    // The server's own state comes last: it may have begun to stop while the store was asked.
    const checks = {
      store: answers ? "ok" : "does not answer",
      search: searchCheck(state, searchParts),
      server: state.stopping ? "stopping" : "ok",
    };
    return { checks, searchParts };
  };

/** Who answers searches; what becomes of parts is counted, and logged where it changes. */
function searchOptions(
  { search = "memory", searchCopy, searchParts: parts }: RegistryOptions,
  telemetry: Telemetry,
  log: Logger,
): Pick<RegistryDataOptions, "search" | "searchCopy" | "searchParts"> {
  if (parts === undefined) return { search, searchCopy };
  const onAnswer = ({ part, url, why, detail, changed }: PartEvent): void => {
    if (why !== undefined) telemetry.partMissing(part, why);
    if (!changed) return;
    if (why === undefined) log.info({ part, url }, "a part of the search's index answers again");
    else log.warn({ part, url, why, detail }, "a part of the search's index does not answer");
  };
  return { searchParts: { ...parts, onAnswer } };
}

/** What its instances share goes by one clock: by several, of a count that one began another would begin anew. */
const clockOfRegistry = ({ now, store }: Pick<RegistryOptions, "now" | "store">): (() => number) =>
  now ?? store.now ?? Date.now;

/** Asks agents as long as publishers' files are fetched here, and by the same rules. */
function proberOf(options: RegistryOptions, publicUrl: string, log: Logger): Prober | undefined {
  const { store, crawling = "on", probing = true, crawl = {} } = options;
  if (crawling !== "on" || !probing) return undefined;
  return createProber({
    store: store.database,
    fetch: crawl.fetch,
    lookup: crawl.lookup,
    publicUrl,
    log,
    now: clockOfRegistry(options),
  });
}

async function openDependencies(
  options: RegistryOptions,
  log: Logger,
  limits: Limits,
  state: State,
): Promise<[RegistryServerDependencies, OpenedIdentity]> {
  const { store, crawling = "on", searchDiscovered = false, pageSearch = true } = options;
  const now = clockOfRegistry(options);
  const opened = await openIdentity(options, log);
  const { access, baseUrl, issuer, authorizationServers } = opened;
  const telemetry = createTelemetry();
  const searching = { searchDiscovered, ...searchOptions(options, telemetry, log) };
  const data = options.data ?? createRegistryData(store, { publicUrl: baseUrl, now, ...searching });
  // The limit of the route is the crawler's own too.
  const perCallerHourly = limits.crawl === 0 ? Number.MAX_SAFE_INTEGER : limits.crawl;
  const shared = { store, data, publicUrl: baseUrl, logger: log, meter: telemetry.meter, now };
  const crawler =
    crawling === "off" ? undefined : await createCrawler({ perCallerHourly, ...options.crawl, ...shared });
  const faults = faultsOf({ access, data }, log, state);
  const [document, files] = [readApiDocument(), openFiles()];
  const streams = feedStreams({ data, log, now });
  const count = rateCounter(access, store.database.shared);
  const dependencies = {
    data,
    crawler,
    access,
    document,
    issuer,
    files,
    telemetry,
    count,
    streams,
    log,
    baseUrl,
    pageSearch,
    authorizationServers,
    now,
    faults,
  };
  return [dependencies, opened];
}

/** What is done by a timer, begun. */
function startUpkeep(dependencies: RegistryServerDependencies, { search }: RegistryOptions): { stop(): Promise<void> } {
  const all = [registryUpkeep(dependencies), ...(search === "database" ? [markKeeping(dependencies)] : [])];
  for (const one of all) one.start();
  return {
    async stop() {
      for (const one of all) await one.stop();
    },
  };
}

/**
 * Makes a registry on an opened store.
 * @throws AdbindError `registry_option_invalid` when an option cannot be used
 */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { crawling = "on" } = options;
  const log = options.logger ?? pino({ name: "adbind-registry", level: "warn" });
  const limits = checkedLimits(options.limits);
  const { drainMs } = checkedNumbers(options);
  const app = newApp(options, log);
  const state: State = { stopping: false, warm: true };
  const [dependencies, { identity }] = await openDependencies(options, log, limits, state);
  const { access, count, crawler, data, telemetry, streams, now } = dependencies;
  const prober = proberOf(options, dependencies.baseUrl, log);

  observeRequests(app, telemetry, options.tracer ?? trace.getTracer("adbind.registry"));
  addHeaders(app, () => state.stopping);
  addErrors(app, telemetry);
  await serveBrowsers(app);
  addIdentity(app, identity, telemetry);
  const counted = { global: false, store: rateStore(count, now), enableDraftSpec: true, skipOnError: true };
  await app.register(rateLimit, counted);
  addRoutes(app, dependencies, limits);
  await app.ready();
  const upkeep = startUpkeep(dependencies, options);

  let stopped: Promise<void> | undefined;
  let warming: Promise<void> | undefined;
  const waiting = new AbortController();
  const stop = async (waitMs: number): Promise<void> => {
    state.stopping = true;
    waiting.abort();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    // A stream never ends by itself; whoever follows goes on at another instance.
    await streams.stop();
    await app.close();
    await crawler?.stop();
    await prober?.stop();
    // Whoever waits for the end closes the store next.
    await upkeep.stop();
    await warming;
    await telemetry.stop();
  };
  return {
    app,
    data,
    access,
    async listen({ host = "127.0.0.1", port }) {
      state.warm = false;
      const address = await app.listen({ host, port });
      // Answers come from the first moment on; a proxy that asks /readyz sends none until they come fast.
      warming = data
        .warm(waiting.signal)
        .catch((error: Error) => log.warn({ err: error }, "the search's index could not be read"))
        .finally(() => {
          state.warm = true;
        });
      if (crawling === "on") crawler?.start();
      prober?.start();
      return address;
    },
    stop: (given) => (stopped ??= stop(given?.drainMs ?? drainMs)),
  };
}
