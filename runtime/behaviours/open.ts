/** A seller of the library's behaviours and the application's ports: store, sender, tools and endpoints, put together. */
import type { AnyTool, JsonObject, Release, Reply } from "../contract/index.js";
import { compareVersions } from "../contract/version-order.js";
import type { Database } from "../db/types.js";
import { AdbindError } from "../errors.js";
import { jsonLog, type Logger } from "../log.js";
import { createSeller, type Seller } from "../seller/create.js";
import { badSellerOption } from "../seller/settings.js";
import type { SellerContext, SellerHandler, SellerOptions, SellerStore } from "../seller/types.js";
import { createSender } from "../sender/create.js";
import type { Sender } from "../sender/sender.js";
import { refuseSplit } from "../store/alone.js";
import { type DocumentStore, documentStore, openStore } from "../store/index.js";
import { accountNamed } from "./accounts/accounts.js";
import { type ServedAreas, servedAreas } from "./areas.js";
import { type Assembled, assembled } from "./assembled.js";
import { trafficScenarios } from "./controller/traffic.js";
import { declareAll } from "./declared.js";
import type { ToolBehaviour } from "./frame/behaviour.js";
import { type BehaviourSettings, type CallFacts, openToolCall, ownChanges } from "./frame/call.js";
import { openDocuments } from "./frame/documents.js";
import { checkInstants } from "./frame/instants.js";
import { patientPorts } from "./frame/patience.js";
import { upstreamRecorder } from "./frame/upstream.js";
import { metricsRoute, openMetrics } from "./metrics.js";
import type { BehavingSellerOptions, ToolHandlers, WrittenRelease } from "./options.js";
import { type CallsUpstream, portsFrom } from "./ports/index.js";
import { sandboxProvenance } from "./provenance/sandbox-verifier.js";
import { reportSource } from "./report-source.js";
import { alsoPublished, developmentKey } from "./signing-key.js";

type Handler = SellerHandler<AnyTool, object>;
type Handlers = Record<string, Handler>;

/** By default the log says what changed something, and for whom. */
const logged =
  (logger: Logger): SellerOptions["audit"] =>
  (entry) => {
    if (entry.mutating) logger.info({ audit: entry }, "a call that changes something was answered");
  };

/** Counts are served where nobody else gets them: in development, or to who has the token. */
const counts = ({ metrics, meter, mode }: Pick<BehavingSellerOptions, "metrics" | "meter" | "mode">): boolean =>
  meter === undefined && metrics !== false && (mode === "development" || metrics?.token !== undefined);

/** Every error reference that a caller is given is found in the log; standard output is the application's. */
const plainLogger = (mode: "development" | "production"): Logger =>
  jsonLog({ level: mode === "production" ? "info" : "warn", to: 2 });

const closed = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("seller_option_invalid", what, { where, remedy });

/** Production is closed: who may call and who signs is said, or nothing starts. */
function refuseOpen({
  mode = "production",
  auth,
  requestSigning,
  key,
  baseUrl,
}: Pick<BehavingSellerOptions, "mode" | "auth" | "requestSigning" | "key" | "baseUrl">): void {
  if (mode !== "production") return;
  if (!/^https:/i.test(baseUrl))
    throw closed("baseUrl", `in production callers need https, and this is ${baseUrl}`, "give an https URL as baseUrl");
  if (auth === undefined && requestSigning === undefined)
    throw closed("auth", "in production everybody could order in anybody's name", "give auth, or requestSigning");
  if (key === undefined)
    throw closed("key", "in production webhooks are signed by a key of the seller's own", "give a private JWK as key");
}

/** What is served, and what every call is given. */
function partsOf(
  options: Pick<
    BehavingSellerOptions,
    "mode" | "release" | "releases" | "specialisms" | "with" | "baseUrl" | "name" | "ports" | "now" | "logger"
  >,
  state: Pick<BehaviourSettings, "store" | "place" | "signing" | "responses" | "declarations">,
): { readonly served: ServedAreas; readonly settings: BehaviourSettings } {
  const { mode = "production", release, releases = [], specialisms, with: beside = [], baseUrl, name } = options;
  const agentUrl = `${baseUrl.replace(/\/+$/, "")}/mcp`;
  // In development there is somebody to ask; what ports of the seller's own ask is theirs.
  const tried = mode === "development" ? { provenance: sandboxProvenance(agentUrl, options.logger) } : {};
  const given = portsFrom({ ...tried, ...options.ports }, mode);
  // Who asks nobody has nothing to show.
  const asks = mode === "development" && Object.values(given).some(({ upstream }: CallsUpstream) => upstream === true);
  const upstream = asks ? upstreamRecorder(options.now) : undefined;
  const served = servedAreas({
    releases: [release, ...releases],
    specialisms,
    with: beside,
    ...(asks && { scenarios: trafficScenarios }),
  });
  const settings: BehaviourSettings = {
    agentUrl,
    name,
    mode,
    ports: patientPorts(upstream?.watched(given) ?? given),
    ...(upstream !== undefined && { upstream }),
    ...state,
    served: new Set(served.areas.map(({ area }) => area)),
  };
  return { served, settings };
}

/**
 * Opens a seller. `start` makes it listen, `close` leaves nothing open.
 * @throws AdbindError `seller_option_invalid`, `split_invalid` for one database of several, and for several where an area is
 *   served that changes what several principals share
 */
export async function openSeller<R extends Release, O extends Release = Release>(
  options: BehavingSellerOptions<R, O>,
): Promise<Assembled> {
  refuseOpen(options);
  const { database } = options;
  if (typeof database !== "string") return openOn(options, database);
  const store = await openStore(database);
  try {
    return await openOn(options, store);
  } catch (error) {
    // What is refused holds nothing open.
    await store.close();
    throw error;
  }
}

/**
 * Where documents are read and written.
 * @throws AdbindError `split_invalid` for one database of several: a caller's would be looked for there, and be in another
 */
async function documentsOn(store: SellerStore): Promise<DocumentStore<object>> {
  if ("principals" in store) {
    const { splitDocuments } = await import("../store/split/documents.js");
    return splitDocuments(store.principals);
  }
  await refuseSplit(store.database as Database, "principal");
  return documentStore(store.database as Database);
}

/** A call is one transaction: what it changes of somebody else may be in another database. */
function refuseShared({ areas }: ServedAreas): void {
  const shared = areas.flatMap(({ area, shares }) => (shares === undefined ? [] : [`${area} (${shares})`]));
  if (shared.length === 0) return;
  const what = `behaviours change what several principals share, and are given several databases: ${shared.join("; ")}`;
  throw new AdbindError("split_invalid", what, {
    where: "database",
    remedy: "give one store to a seller of these; without them (specialisms, with) it may be on several databases",
  });
}

/** What is told of by itself, and what is claimed, is in the words of the newest. @throws AdbindError `seller_option_invalid` */
function checkNewest({ version }: Release, others: readonly Release[]): void {
  const newer = others.find((one) => compareVersions(one.version, version) > 0);
  if (newer === undefined) return;
  const remedy = `give ${newer.version} as the release, and ${version} in releases`;
  throw badSellerOption("release", remedy, `${newer.version}, among the releases, is newer than ${version}`);
}

async function openOn<R extends Release, O extends Release>(
  options: BehavingSellerOptions<R, O>,
  store: SellerStore,
): Promise<Assembled> {
  const { database, mode = "production", release, releases = [], formerKeys = [] } = options;
  checkNewest(release, releases);
  const logger = options.logger ?? plainLogger(mode);
  const all = [release, ...releases];
  // Before keys are made there.
  if ("principals" in store) refuseShared(servedAreas({ ...options, releases: all }));
  const documents = await documentsOn(store);
  const key = options.key ?? (await developmentKey(documents, release.word));
  const signing = { key, keyid: key.kid };
  const answering =
    options.responseKey ??
    (mode === "development" ? await developmentKey(documents, release.word, "responses") : undefined);
  const responses = answering === undefined ? {} : { responses: { key: answering, keyid: answering.kid } };
  const declared = new Map<string, JsonObject>();
  const state = { store: documents, place: store, signing, ...responses, declarations: declared };
  const { served, settings } = partsOf(options, state);
  const sender = await openSender({ ...options, mode, logger }, { settings, served, store, signer: signing });
  const library = libraryOf(served, settings, mode);
  const tools = joined(library, options.tools?.(library as unknown as ToolHandlers<R | WrittenRelease<O>>));
  const answered = new Set(Object.keys(tools));
  await declareAll(declared, all, options, { served, settings, answered });
  const metrics = counts({ ...options, mode }) ? await openMetrics() : undefined;
  const seller = (await createSeller({
    audit: logged(logger),
    ...(options as unknown as SellerOptions),
    ...(metrics !== undefined && { meter: metrics.meter }),
    mode,
    logger,
    // Its own codes say what is wrong with a request.
    unchecked: ["comply_test_controller"],
    judgedByHandler: Object.assign({}, ...served.areas.map(({ judges }) => judges)),
    tools,
    accountNamed: (ref, { principal }) => accountNamed({ documents: openDocuments(documents), principal, mode }, ref),
    store,
    sender,
    signing: {
      ...signing,
      alsoPublished: alsoPublished(release.word, { formerKeys, answering }),
    },
    capabilities: (one: Release) => declared.get(one.version) ?? {},
  } as SellerOptions)) as unknown as Seller<never>;
  if (metrics !== undefined) metricsRoute(seller.app, metrics, options.metrics || {});
  const missing = served.missing.filter((tool) => !answered.has(tool));
  return assembled({
    seller,
    sender,
    settings,
    missing,
    store,
    own: typeof database === "string",
    metrics,
    served,
    options: { ...options, mode, logger },
  });
}

/** The seller's own tools stand in for the library's. */
const joined = (library: Handlers, own: object | undefined): Handlers => ({
  ...library,
  ...(own as Handlers | undefined),
});

interface SenderSettings {
  readonly settings: BehaviourSettings;
  readonly served: ServedAreas;
  readonly store: SellerStore;
  readonly signer: { readonly key: object; readonly keyid: string };
}

async function openSender(
  {
    release,
    releases = [],
    mode,
    logger,
    now,
  }: Pick<BehavingSellerOptions, "release" | "releases" | "logger" | "now"> & {
    readonly mode: CallFacts["mode"];
  },
  { settings, served, store, signer }: SenderSettings,
): Promise<Sender> {
  const development = mode === "development";
  const sender: Sender = (await createSender({
    store,
    release,
    ...(releases.length > 0 && { releases }),
    signer,
    agentUrl: settings.agentUrl,
    net: { allowHttp: development, allowLoopback: development },
    mode,
    ...reportSource(settings, served, {
      ...{ releases: [release, ...releases], mode, now: now ?? store.now },
      sender: () => sender,
    }),
    ...(now !== undefined && { now }),
    ...(logger !== undefined && { logger }),
  })) as Sender;
  return sender;
}

/** The library's tools as the seller takes them: what a call wrote commits in the transaction of its answer. */
function libraryOf(served: ServedAreas, settings: BehaviourSettings, mode: string): Handlers {
  const withheld = new Set(served.areas.flatMap((one) => one.withheld?.(settings) ?? []));
  const tools = [...served.tools].filter(
    ([tool]) => (mode === "development" || tool !== "comply_test_controller") && !withheld.has(tool),
  );
  const handler =
    (tool: string, behave: ToolBehaviour): Handler =>
    async (request, context) => {
      checkInstants(request);
      const call = await openToolCall(settings, tool, context as SellerContext<AnyTool, object>);
      const { upstream } = settings;
      const answered = () => behave(request, call);
      const reply = await (upstream === undefined ? answered() : upstream.within(call.principal, answered));
      const changes = await ownChanges(settings, call);
      if (changes.length > 0) context.effect((tx) => settings.store.write(tx, changes));
      return reply as Reply<AnyTool>;
    };
  return Object.fromEntries(tools.map(([tool, behave]) => [tool, handler(tool, behave)]));
}
