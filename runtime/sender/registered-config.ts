/** A registration's config in two: what stands in clear, and its secrets, which are sealed. */
import { redactUrl } from "./redact.js";
import type { BoxOwner, Keyring } from "./sealing.js";
import type { LegacyAuthentication } from "./types.js";

/** What every registration has, a task's, a channel's, and one of notifications. */
export interface AnyConfig {
  readonly url: string;
  readonly token?: string;
  readonly authentication?: LegacyAuthentication;
}

/** As it stands in its row. */
export type StoredConfig<Config extends AnyConfig = AnyConfig> = Omit<Config, "authentication"> & {
  readonly authentication?: { readonly schemes: readonly string[]; readonly credentials?: string };
  /** There are secrets beside it, under the name of the registration. */
  readonly sealed?: true;
  /** Its events echo a token. */
  readonly tokened?: true;
  /** Name of its endpoint, where the URL as it stands here does not tell. */
  readonly endpoint?: string;
  /** Of reports: whose clocks they go by, where it is not UTC. */
  readonly timezone?: string;
};

interface Secrets {
  readonly url?: string;
  readonly token?: string;
  readonly credentials?: string;
}

/** What is registered with a task: where it is told of, by either way, and where the buy that it makes is to be reported on. */
export type TaskVia = "push" | "a2a" | "reporting";

/** What a box of secrets is called: the way of a task, or a channel. */
export const taskRegistration = (via: TaskVia, taskId: string): string => JSON.stringify([via, taskId]);
export const channelRegistration = (of: { resource: string; kind: string; subscriber: string }): string =>
  JSON.stringify(["channel", of.resource, of.kind, of.subscriber]);

function secretsIn({ url, token, authentication }: AnyConfig, seals: boolean): Secrets | undefined {
  // What is hidden of a URL when it is shown is what may be a secret; most often it is an id. So it is sealed where that
  // can be done, and does not keep a buyer out where it cannot.
  const secrets: Secrets = {
    ...(seals && redactUrl(url) !== new URL(url).href && { url }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && { credentials: authentication.credentials }),
  };
  return Object.keys(secrets).length === 0 ? undefined : secrets;
}

/** Whether a config can only be kept where there is a key: it says itself that it has secrets. */
export const hasSecrets = (config: AnyConfig): boolean => secretsIn(config, false) !== undefined;

/** What a config is split by. */
export interface Splitting {
  /** Name of its endpoint. */
  readonly endpoint: string;
  /** The name has something else in place of what the URL has. */
  readonly named: boolean;
  readonly seals: boolean;
}

/**
 * A config as it is stored, and its secrets as one text.
 * @param seals whether there is a key; without one it has no secrets but what a URL may hide
 */
export function splitConfig<Config extends AnyConfig>(
  config: Config,
  { endpoint, named, seals }: Splitting,
): { readonly stored: StoredConfig<Config>; readonly secrets: string | undefined } {
  const secrets = secretsIn(config, seals);
  if (secrets === undefined) return { stored: named ? { ...config, endpoint } : config, secrets: undefined };
  const { token: _token, authentication, ...rest } = config;
  const stored = {
    ...rest,
    ...(authentication !== undefined && { authentication: { schemes: authentication.schemes } }),
    ...(secrets.url !== undefined && { url: redactUrl(config.url) }),
    ...((secrets.url !== undefined || named) && { endpoint }),
    ...(secrets.token !== undefined && { tokened: true as const }),
    sealed: true as const,
  };
  return { stored: stored as unknown as StoredConfig<Config>, secrets: JSON.stringify(secrets) };
}

/** The config as it was given. */
export function joinConfig(stored: StoredConfig, text: string | undefined): AnyConfig {
  const { sealed: _sealed, tokened: _tokened, endpoint: _endpoint, authentication, ...rest } = stored;
  const { url, token, credentials } = (text === undefined ? {} : JSON.parse(text)) as Secrets;
  return {
    ...rest,
    ...(url !== undefined && { url }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && {
      authentication: { schemes: authentication.schemes, credentials: credentials ?? authentication.credentials ?? "" },
    }),
  } as AnyConfig;
}

export type OpenedConfig =
  | { readonly ok: true; readonly config: AnyConfig }
  /** `gone`: it has no secrets any more. `shut`: they do not open. */
  | { readonly ok: false; readonly kind: "gone" | "shut"; readonly why: string };

/** A stored config with its secrets. @param row its box, as it was found */
export function openConfig(
  keyring: Pick<Keyring, "open">,
  stored: StoredConfig,
  row: { readonly key_id: string; readonly box: string } | undefined,
  owner: Pick<BoxOwner, "principal" | "registration">,
): OpenedConfig {
  if (stored.sealed !== true) return { ok: true, config: joinConfig(stored, undefined) };
  if (row === undefined)
    return { ok: false, kind: "gone", why: "its secrets were erased: what it was registered for is over" };
  const opened = keyring.open(row, { ...owner, url: stored.url });
  if (opened.ok) return { ok: true, config: joinConfig(stored, opened.text) };
  return opened.why === "lost"
    ? { ok: false, kind: "shut", why: `its secrets are under the key ${row.key_id}, which is not here` }
    : { ok: false, kind: "shut", why: "its secrets do not belong to it: a column was changed" };
}
