/**
 * What a caller has standing with a seller, apart from any account: the configs of what it is told of, by which it is told
 * of changed capabilities too. Two tools write one set, one tool reads it.
 */
import { type AnyTool, isJsonObject, type JsonObject, type MaybePromise, type Release } from "../contract/index.js";
import { eventCatalogue } from "../facts/index.js";
import type { NotificationConfig, NotificationSet, PreparedConfigs, Refused, Sender } from "../sender/index.js";
import { ANONYMOUS } from "./auth.js";
import { refusedBy, ToolError } from "./tool-error.js";
import type { SellerContext, SellerHandler } from "./types.js";

/** How callers' own configuration is kept and told. */
export interface PrincipalOptions {
  readonly sender: Pick<Sender, "notifications">;
  /** Kinds of events that the seller makes, of those the release has for agents; all of them by default. */
  readonly eventTypes?: readonly string[];
  /** What kind of party a principal is. Default `buyer_agent`. */
  readonly kindOf?: (principal: string) => MaybePromise<"buyer_agent" | "operator">;
  /**
   * The seller's own id of a principal that it keeps a record of, shown to the principal itself. Without it one is made
   * with the first config.
   */
  readonly idOf?: (principal: string) => MaybePromise<string | undefined>;
  /** Seconds that a caller may go by what it has read of the capabilities: 60 to 604,800. Default 3,600. */
  readonly cacheSeconds?: number;
}

/** Handlers for those of these tools that a release has. */
export type PrincipalTools<Tx> = Readonly<
  Record<"sync_agent_notification_configs" | "sync_principal" | "get_principal", SellerHandler<AnyTool, Tx>>
>;

/** The tools by which callers configure what they are told. */
export interface Principals<Tx> {
  /** Give those the release has to `createSeller`. */
  readonly tools: PrincipalTools<Tx>;
  /** What a seller with these tools says of itself: give it to `createSeller` as `capabilities`, with what else is yours. */
  capabilities(release: Release): JsonObject;
}

const CACHE_SECONDS = 3_600;
const SYNC_CONFIGS = "sync_agent_notification_configs";
const SYNC_PRINCIPAL = "sync_principal";
const SECTION = "notification_configs";
/** A release lists the experimental surfaces that a seller has. */
const EXPERIMENTAL = "protocol.principal";

/** Makes the tools by which callers say where they are told of what is of no one account. */
export function createPrincipals<Tx>(options: PrincipalOptions): Principals<Tx> {
  return {
    tools: {
      sync_agent_notification_configs: (request, ctx) => syncConfigs(options, request as JsonObject, ctx),
      sync_principal: (request, ctx) => syncPrincipal(options, request as JsonObject, ctx),
      get_principal: (_request, ctx) => getPrincipal(options, ctx),
    },
    capabilities: (release) => declaredPrincipals(options, release),
  };
}

/** What a seller makes of what a release has. */
const offered = ({ eventTypes }: Pick<PrincipalOptions, "eventTypes">, release: Release): readonly string[] =>
  eventCatalogue(release)
    .kindsOf("agent")
    .filter((kind) => eventTypes === undefined || eventTypes.includes(kind));

/** What a seller with these tools says of itself. */
export function declaredPrincipals(options: Omit<PrincipalOptions, "sender">, release: Release): JsonObject {
  const { word, tools } = release;
  const whole = Object.hasOwn(tools, SYNC_PRINCIPAL);
  if (!whole && !Object.hasOwn(tools, SYNC_CONFIGS)) return {};
  const kinds = offered(options, release);
  return {
    [word]: {
      capability_changes: {
        cache_ttl_seconds: options.cacheSeconds ?? CACHE_SECONDS,
        notifications: {
          supported: true,
          registration_task: whole ? SYNC_PRINCIPAL : SYNC_CONFIGS,
          event_types: kinds.filter((kind) => kind === "capabilities.changed"),
        },
      },
      ...(whole && {
        principal: {
          ...{ supported: true, sync_task: SYNC_PRINCIPAL, read_task: "get_principal" },
          ...{ supported_sections: [SECTION], caller_event_types: kinds, optimistic_concurrency: true },
        },
      }),
    },
    ...(whole && { experimental_features: [EXPERIMENTAL] }),
  };
}

type Context<Tx> = SellerContext<AnyTool, Tx>;

/** What strangers would share is nobody's. */
function scopeOf<Tx>({ principal, release }: Context<Tx>) {
  if (principal !== ANONYMOUS) return { principal, release: release.version };
  throw new ToolError("AUTH_REQUIRED", "What a caller has standing belongs to who it is: say who you are.");
}

interface Replacement {
  readonly configs: readonly NotificationConfig[];
  readonly dry: boolean;
  readonly expected?: string | undefined;
}

/** @returns what was stored with the answer, or would be */
async function replace<Tx>(
  options: PrincipalOptions,
  ctx: Context<Tx>,
  { configs, dry, expected }: Replacement,
): Promise<PreparedConfigs | Refused> {
  const kinds = offered(options, ctx.release);
  const scope = scopeOf(ctx);
  for (const [at, { event_types: types }] of configs.entries()) {
    const wrong = types.findIndex((type) => !kinds.includes(type));
    if (wrong < 0) continue;
    const field = `${SECTION}[${at}].event_types[${wrong}]`;
    const message = "No such event is told here to callers.";
    return { ok: false, error: { code: "UNSUPPORTED_FEATURE", message, field } };
  }
  const prepared = await options.sender.notifications.prepare(scope, configs, { prove: !dry, expected });
  if (!prepared.ok || dry) return prepared;
  ctx.effect((tx) => {
    const stored = prepared.store({ tx: tx as object });
    return stored instanceof Promise ? stored.then(mustHold) : mustHold(stored);
  });
  return prepared;
}

/** Nothing of the call is stored where its configs are not. */
function mustHold(stored: { readonly ok: true } | Refused): void {
  if (!stored.ok) throw refusedBy(stored.error);
}

async function syncConfigs<Tx>(options: PrincipalOptions, request: JsonObject, ctx: Context<Tx>) {
  const dry = request.dry_run === true;
  const configs = request[SECTION] as readonly NotificationConfig[];
  const came = await replace(options, ctx, { configs, dry });
  if (!came.ok) return failed(ctx, { action: "failed" }, came);
  const shown = dry ? await options.sender.notifications.list(scopeOf(ctx)) : came.configs;
  return ctx.complete({ action: came.action, dry_run: dry, [SECTION]: shown });
}

async function syncPrincipal<Tx>(options: PrincipalOptions, request: JsonObject, ctx: Context<Tx>) {
  const configuration = isJsonObject(request.configuration) ? request.configuration : {};
  const dry = request.dry_run === true;
  const { principal } = scopeOf(ctx);
  const kind = await kindOf(options, principal);
  const fault = sectionFault(configuration) ?? kindFault(request, kind);
  if (fault !== undefined) return failedWhole(ctx, fault);
  const configs = configuration[SECTION] as readonly NotificationConfig[];
  const { expected_configuration_version: expected } = request;
  const came = await replace(options, ctx, { configs, dry, ...(typeof expected === "string" && { expected }) });
  if (!came.ok) return failedWhole(ctx, came);
  const { action, version, id } = came;
  if (dry) return ctx.complete({ result: { kind: "validated", action: wouldBe[action], dry_run: true } });
  const result = {
    ...{ kind: "applied", action, dry_run: false, principal_id: (await options.idOf?.(principal)) ?? id },
    ...{ principal_kind: kind, configuration_version: version, configuration: { [SECTION]: came.configs } },
  };
  return ctx.complete({ result });
}

const wouldBe = { updated: "would_update", unchanged: "would_be_unchanged", cleared: "would_clear" } as const;

const kindOf = async ({ kindOf: asked }: PrincipalOptions, principal: string) =>
  (await asked?.(principal)) ?? "buyer_agent";

/** A section that is not offered refuses them all: none would be half of what was asked. */
function sectionFault(configuration: JsonObject): Refused | undefined {
  const other = Object.keys(configuration).find((name) => name !== SECTION);
  if (other === undefined) return undefined;
  const field = `configuration.${other}`;
  return { ok: false, error: { code: "UNSUPPORTED_FEATURE", message: `${other} is not offered here.`, field } };
}

function kindFault({ expected_principal_kind: expected }: JsonObject, kind: string): Refused | undefined {
  if (expected === undefined || expected === kind) return undefined;
  const message = "The caller is another kind of party than it says.";
  return { ok: false, error: { code: "CONFLICT", message, field: "expected_principal_kind" } };
}

const failed = <Tx>(ctx: Context<Tx>, own: JsonObject, { error }: Refused) => {
  const { status, data } = ctx.fail(error);
  return { status, data: { ...own, ...(data as object) } };
};

/** The same as its own result says it. */
const failedWhole = <Tx>(ctx: Context<Tx>, { error }: Refused) => {
  const { field } = error;
  const inside = field?.startsWith(SECTION) === true ? { ...error, field: `configuration.${field}` } : error;
  return failed(ctx, { result: { kind: "failed", errors: [inside] } }, { ok: false, error: inside });
};

async function getPrincipal<Tx>(options: PrincipalOptions, ctx: Context<Tx>) {
  const scope = scopeOf(ctx);
  const [set, own] = await Promise.all([options.sender.notifications.read(scope), options.idOf?.(scope.principal)]);
  return ctx.complete({ result: await readOf(options, scope.principal, set, own) });
}

async function readOf(
  options: PrincipalOptions,
  principal: string,
  { id, version, configs }: NotificationSet,
  own: string | undefined,
): Promise<JsonObject> {
  const principalId = own ?? id;
  if (principalId === undefined) return { kind: "unconfigured" };
  const known = { principal_id: principalId, principal_kind: await kindOf(options, principal) };
  if (version === undefined) return { kind: "recognized", ...known };
  return { kind: "current", ...known, configuration_version: version, configuration: { [SECTION]: configs } };
}
