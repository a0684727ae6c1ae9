/** A buyer's options, judged and completed once. */

import type { Release, WireNames } from "../contract/index.js";
import { transportNames, wireNames } from "../contract/index.js";
import { compareVersions } from "../contract/version-order.js";
import { AdbindError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Fetcher } from "../net/index.js";
import { isTimerMs } from "../timers.js";
import type { AnyValidator } from "../validate/types.js";
import type { OAuthClient } from "./oauth/client.js";
import type { BuyerPlatform } from "./platform.js";
import type { BuyerOptions, RetryOptions, TransportChoice } from "./types.js";
import type { BuyerWebhooks } from "./webhooks.js";

export interface BuyerSettings
  extends Required<
    Pick<BuyerOptions, "timeoutMs" | "pollMs" | "giveUpMs" | "maxAnswerBytes" | "now" | "random" | "uuid" | "pause">
  > {
  /** Milliseconds since whenever, for how long something took. */
  readonly elapsed: () => number;
  readonly auth: BuyerOptions["auth"] | undefined;
  readonly oauth: OAuthClient | undefined;
  readonly signing: BuyerOptions["signing"] | undefined;
  readonly onInvalid: BuyerOptions["onInvalid"] | undefined;
  readonly validatorOf: (release: Release) => Promise<AnyValidator>;
  /** Newest first. */
  readonly releases: readonly Release[];
  readonly names: WireNames;
  readonly word: string;
  readonly url: string;
  readonly transport: TransportChoice;
  readonly webhooks: (BuyerWebhooks & { readonly route: string; readonly sender: string }) | undefined;
  readonly retry: Required<RetryOptions>;
  readonly intents: BuyerOptions["intents"] | undefined;
  readonly ended: BuyerOptions["ended"] | undefined;
  /** Whose they are. */
  readonly intentsOf: string;
  readonly adapters: NonNullable<BuyerOptions["adapters"]>;
  readonly signer: BuyerPlatform["signer"];
  readonly fetch: Fetcher;
  /** Present when the buyer made `fetch` itself, and has to close it. */
  readonly closeFetch: (() => Promise<void>) | undefined;
  readonly logger: Logger | undefined;
  readonly tracer: BuyerOptions["tracer"] | undefined;
  readonly governance: BuyerOptions["governance"] | undefined;
  readonly acceptance: NonNullable<BuyerOptions["acceptance"]>;
}

/** docs/protocol/errors.md#recovery: three tries after the first, within five minutes, from two seconds on. */
const RETRY = { attempts: 4, totalMs: 300_000, baseMs: 2_000 } as const;
/** Sellers hold a `working` call for two minutes, callers for five (docs/protocol/tasks.md#timing). */
const TIMEOUT_MS = 300_000;
const POLL_MS = 30_000;
const GIVE_UP_MS = 86_400_000;
/** 4 MiB: lists of products are some hundred KiB; more would only fill the memory of whoever asks many agents. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MIN_SECRET_CHARS = 32;

export const badBuyerOption = (where: string, remedy: string): AdbindError =>
  new AdbindError("buyer_option_invalid", "an option of a buyer cannot be used", { where, remedy });

function releasesOf({ release, releases = [] }: BuyerOptions): readonly Release[] {
  const all = [release, ...releases.filter((one) => one !== release)].sort((a, b) =>
    compareVersions(b.version, a.version),
  );
  if (new Set(all.map(({ version }) => version)).size < all.length)
    throw badBuyerOption("releases", "give each version once");
  if (new Set(all.map(({ word }) => word)).size > 1) {
    throw badBuyerOption("releases", "releases of different protocol words need a buyer each");
  }
  return all;
}

function agentOf({ agent }: BuyerOptions): { url: string; transport: TransportChoice } {
  const ref = typeof agent === "string" ? { url: agent } : agent;
  const text = "url" in ref ? ref.url : ref.agent_url;
  const { transport = "auto" } = ref as { transport?: TransportChoice };
  const choices: readonly string[] = [...transportNames, "auto"];
  if (!choices.includes(transport)) throw badBuyerOption("agent.transport", `give one of ${choices.join(", ")}`);
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw badBuyerOption("agent", "give the agent's http or https URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw badBuyerOption("agent", "give credentials as auth, not in the URL");
  return { url: text, transport };
}

function webhooksOf(given: BuyerWebhooks | undefined, agentUrl: string): BuyerSettings["webhooks"] {
  if (given === undefined) return undefined;
  const { url, authentication } = given;
  if (!URL.canParse(url)) throw badBuyerOption("webhooks.url", "give the absolute URL that reaches the receiver");
  if (authentication !== undefined && authentication.credentials.length < MIN_SECRET_CHARS) {
    throw badBuyerOption("webhooks.authentication", `give credentials of at least ${MIN_SECRET_CHARS} characters`);
  }
  const { pathname, search } = new URL(url);
  return { ...given, route: given.route ?? `${pathname}${search}`, sender: given.sender ?? agentUrl };
}

const timerPause: BuyerSettings["pause"] = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });

function oauthOf(
  { auth, now = Date.now }: BuyerOptions,
  { url: agentUrl, allowLocal, fetch }: { url: string; allowLocal: boolean; fetch: Fetcher },
): OAuthClient | undefined {
  if (auth === undefined || !("oauth" in auth)) return undefined;
  const { oauth: options } = auth;
  if (options.clientId === "") throw badBuyerOption("auth.oauth.clientId", "give the client's id at the issuer");
  if (options.authorize === undefined && options.clientSecret === undefined) {
    throw badBuyerOption(
      "auth.oauth",
      "give clientSecret for the client itself, or authorize and redirectUri for a person",
    );
  }
  if (options.clientSecret !== undefined && options.issuer === undefined) {
    throw badBuyerOption(
      "auth.oauth.issuer",
      "name the issuer that gave the client its secret: the agent may name another, which would be shown it",
    );
  }
  if (options.authorize !== undefined && !URL.canParse(options.redirectUri ?? "")) {
    throw badBuyerOption("auth.oauth.redirectUri", "give the URL that the issuer sends the person back to");
  }
  // Most buyers have a token already, and need none of it.
  let made: Promise<OAuthClient> | undefined;
  const client = (): Promise<OAuthClient> => {
    made ??= import("./oauth/client.js").then(({ createOAuthClient }) =>
      createOAuthClient({ options, agentUrl, fetch, allowLocal, now }),
    );
    return made;
  };
  return {
    token: async () => (await client()).token(),
    refused: async (token, challenge) => (await client()).refused(token, challenge),
  };
}

function positive(where: string, value: number): number {
  if (!isTimerMs(value)) throw badBuyerOption(where, "give a number above 0");
  return value;
}

/** @throws AdbindError `buyer_option_invalid` */
export function checkedBuyerSettings(options: BuyerOptions, platform: BuyerPlatform): BuyerSettings {
  const releases = releasesOf(options);
  const { url, transport } = agentOf(options);
  const { allowLocal = false, retry = {} } = options;
  const timeoutMs = positive("timeoutMs", options.timeoutMs ?? TIMEOUT_MS);
  const own = options.fetch === undefined ? platform.makeFetch(allowLocal, timeoutMs) : undefined;
  const [newest] = releases as [Release];
  const validatorOf = platform.validatorsOf(options.validator, releases);
  if (validatorOf === undefined)
    throw badBuyerOption("validator", "give a function that has a validator for each release");
  return {
    releases,
    word: newest.word,
    names: wireNames(newest.word),
    url,
    transport,
    webhooks: webhooksOf(options.webhooks, url),
    retry: {
      attempts: positive("retry.attempts", retry.attempts ?? RETRY.attempts),
      totalMs: positive("retry.totalMs", retry.totalMs ?? RETRY.totalMs),
      baseMs: positive("retry.baseMs", retry.baseMs ?? RETRY.baseMs),
    },
    intents: options.intents,
    ended: options.ended,
    intentsOf: options.owner === undefined ? url : JSON.stringify([options.owner, url]),
    adapters: options.adapters ?? {},
    timeoutMs,
    pollMs: positive("pollMs", options.pollMs ?? POLL_MS),
    giveUpMs: positive("giveUpMs", options.giveUpMs ?? GIVE_UP_MS),
    maxAnswerBytes: positive("maxAnswerBytes", options.maxAnswerBytes ?? MAX_ANSWER_BYTES),
    auth: options.auth,
    oauth: oauthOf(options, { url, allowLocal, fetch: options.fetch ?? own!.fetch }),
    signing: options.signing,
    onInvalid: options.onInvalid,
    validatorOf,
    signer: platform.signer,
    fetch: options.fetch ?? own!.fetch,
    closeFetch: own?.close,
    now: options.now ?? Date.now,
    // A clock that is set ahead must not end a wait, nor one that is set back lengthen it; a clock that is given is all there is.
    elapsed: options.now ?? (() => performance.now()),
    random: options.random ?? Math.random,
    uuid: options.uuid ?? (() => crypto.randomUUID()),
    pause: options.pause ?? timerPause,
    logger: options.logger,
    tracer: options.tracer,
    governance: options.governance,
    acceptance: options.acceptance ?? {},
  };
}
