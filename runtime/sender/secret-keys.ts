/** Keys under which secrets of registrations are sealed: where they come from, and how they are written down. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { MaybePromise } from "../contract/index.js";
import { AdbindError } from "../errors.js";

/** Keys by their ids: one seals, all of them open. */
export interface SecretKeys {
  /** Id of the key that seals. */
  readonly current: string;
  /** 32 bytes each, the current one among them. Ids have 1 to 64 characters, without blanks. */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** Keys as they are, or what fetches them: asked at the start, every minute, and where a row names a key that is unknown. */
export type SecretKeySource = SecretKeys | (() => MaybePromise<SecretKeys>);

const KEY_BYTES = 32;
const ID = /^[\x21-\x7e]{1,64}$/;
/** Environment variables that are read where no `secrets` are given: the keys themselves, or a file with them. */
const ENVIRONMENT = { keys: "ADBIND_SECRET_KEYS", file: "ADBIND_SECRET_KEYS_FILE" } as const;

const unusable = (what: string, where: string, remedy: string, cause?: unknown): AdbindError =>
  new AdbindError("secret_keys_invalid", what, { where, remedy, ...(cause !== undefined && { cause }) });

const HOW = "write lines of an id, a blank and 32 bytes in base64url, the current key first";

/**
 * Reads keys: a line for each, its id and 32 bytes in base64url, the current one first. Lines may be parted by commas.
 * @param where for messages; no key is ever in one
 * @throws AdbindError `secret_keys_invalid`
 */
export function parseSecretKeys(text: string, where: string): SecretKeys {
  const lines = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const keys = new Map<string, Uint8Array>();
  for (const [at, line] of lines.entries()) {
    const [id = "", encoded = "", ...more] = line.split(/\s+/);
    const fits = /^[\w+/-]+={0,2}$/.test(encoded) && more.length === 0 && ID.test(id);
    const key = fits ? Buffer.from(encoded, "base64url") : Buffer.alloc(0);
    if (key.length !== KEY_BYTES) throw unusable(`key ${at + 1} cannot be read`, where, HOW);
    if (keys.has(id)) throw unusable(`two keys have the id ${id}`, where, "give each an id of its own");
    keys.set(id, key);
  }
  const [current] = keys.keys();
  if (current === undefined) throw unusable("there is no key", where, HOW);
  return { current, keys: Object.fromEntries(keys) };
}

/** @throws AdbindError `secret_keys_invalid` */
export function checkedSecretKeys({ current, keys }: SecretKeys): SecretKeys {
  for (const [id, key] of Object.entries(keys)) {
    if (!ID.test(id)) throw unusable("an id cannot be used", "secrets", "use 1 to 64 characters without blanks");
    if (key.length !== KEY_BYTES) throw unusable(`a key has ${key.length} bytes`, `secrets, ${id}`, "give 32 bytes");
  }
  if (!Object.hasOwn(keys, current)) throw unusable("the current key is not among the keys", "secrets", "add it");
  return { current, keys };
}

/** Reads a file of keys at each call, so that what was added holds without a restart. @throws AdbindError `secret_keys_invalid` */
export function secretKeysIn(file: string): SecretKeys {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw unusable("the file of secret keys cannot be read", file, "make one: adbind outbox secrets new <file>", cause);
  }
  return parseSecretKeys(text, file);
}

/** A line of a new key. @param id by default the time to the second */
export const newSecretKey = (id: string): string => `${id} ${randomBytes(KEY_BYTES).toString("base64url")}`;

/** An id for a key made at a time, in unix milliseconds; two of one second differ. */
export const secretKeyId = (now: number): string =>
  `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}-${randomBytes(2).toString("hex")}`;

/** What the environment names; undefined where it names nothing. @throws AdbindError `secret_keys_invalid` */
export function secretKeysOfEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): SecretKeySource | undefined {
  const text = env[ENVIRONMENT.keys];
  if (text !== undefined && text !== "") return parseSecretKeys(text, ENVIRONMENT.keys);
  const file = env[ENVIRONMENT.file];
  return file === undefined || file === "" ? undefined : () => secretKeysIn(file);
}

/**
 * For development: the keys of a file beside the store, which is made where it is not there.
 * @param told once, where it was made
 * @throws AdbindError `secret_keys_invalid` where none can be kept there
 */
export function developmentKeys(
  { where, shared }: { readonly where: string; readonly shared: boolean },
  now: number,
  told: (message: string) => void,
): SecretKeySource {
  // A server has no place beside it: the working directory then.
  const file = path.resolve(shared ? "adbind-development.keys" : `${where}.keys`);
  try {
    writeFileSync(file, `${newSecretKey(`development-${secretKeyId(now)}`)}\n`, { flag: "wx", mode: 0o600 });
    told(`secrets of registrations are sealed with a key for development, made in ${file}: give production its own`);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST")
      throw unusable("no key can be kept beside the store", file, "give secrets", fault);
  }
  return () => secretKeysIn(file);
}
