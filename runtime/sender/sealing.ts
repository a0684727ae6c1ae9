/**
 * Secrets of registrations at rest: AES-256-GCM under a key that has an id. A box opens only for the principal, the
 * registration, the URL and the key id it was made for, so that a column somebody has swapped opens nothing.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { AdbindError } from "../errors.js";
import { CALLBACK_MS, inTime } from "./deadline.js";
import { checkedSecretKeys, type SecretKeySource, type SecretKeys } from "./secret-keys.js";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A row under a key that is not known has them fetched again, at most this often, in milliseconds. */
const REFRESH_MS = 5_000;

/** What a box is bound to. */
export interface BoxOwner {
  readonly principal: string;
  /** The registration, by its name. */
  readonly registration: string;
  /** As it stands in clear beside the box. */
  readonly url: string;
}

/** A sealed text, and the id of its key. */
export interface Box {
  readonly key_id: string;
  /** Nonce, text and tag in base64url. */
  readonly box: string;
}

export type Opened =
  | { readonly ok: true; readonly text: string }
  /** `lost`: there is no such key here. `foreign`: it was made for something else, or was changed. */
  | { readonly ok: false; readonly why: "lost" | "foreign" };

/** Sealed bytes: nonce, bytes and tag. */
export interface ByteBox {
  readonly key_id: string;
  readonly box: Uint8Array;
}

export type OpenedBytes =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: "lost" | "foreign" };

export interface Keyring {
  /** Whether anything can be sealed. */
  readonly seals: boolean;
  /** Id of the key that seals; undefined where none does. */
  readonly current: string | undefined;
  /** @throws AdbindError `secret_keys_invalid` where there is no key */
  seal(text: string, owner: BoxOwner): Box;
  open(box: Box, owner: BoxOwner): Opened;
  /** The same of bytes. @throws AdbindError `secret_keys_invalid` where there is no key */
  sealBytes(bytes: Uint8Array, owner: BoxOwner): ByteBox;
  openBytes(box: ByteBox, owner: BoxOwner): OpenedBytes;
  knows(keyId: string): boolean;
  /**
   * Fetches the keys again, unless that was done just now; who asks meanwhile waits for the same answer.
   * @throws what the source throws, or threw just now; LateAnswer
   */
  refresh(): Promise<void>;
}

/** The fault of an instance that was started without any key. */
export const keyless = (message: string): AdbindError =>
  new AdbindError("secret_keys_invalid", message, {
    where: "secrets",
    remedy: "give the sender secrets, or set ADBIND_SECRET_KEYS_FILE",
  });

const bound = ({ principal, registration, url }: BoxOwner, keyId: string): Buffer =>
  Buffer.from(JSON.stringify([principal, registration, url, keyId]));

function sealWith(key: Uint8Array, bytes: Uint8Array, data: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(data);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined where it was not made with this, for this */
function openWith(key: Uint8Array, box: Uint8Array, data: Buffer): Buffer | undefined {
  if (box.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES));
  decipher.setAAD(data);
  decipher.setAuthTag(box.subarray(-TAG_BYTES));
  try {
    const bytes = decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([bytes, decipher.final()]);
  } catch {
    return undefined;
  }
}

/** @throws AdbindError `secret_keys_invalid`; what the source throws; LateAnswer */
async function fetchedFrom(source: SecretKeySource | undefined, limitMs: number): Promise<SecretKeys | undefined> {
  if (source === undefined) return undefined;
  if (typeof source !== "function") return checkedSecretKeys(source);
  return checkedSecretKeys(await inTime(source(), { limitMs, who: "the source of secret keys" }));
}

/** Fetches again, at most so often; who asks in between is told what came of the last time. */
function refreshing(fetch: () => Promise<void>, everyMs: number): Keyring["refresh"] {
  let at = Number.NEGATIVE_INFINITY;
  let last = Promise.resolve();
  return () => {
    if (performance.now() - at >= everyMs) {
      // Until it has answered nobody asks again, however long that takes.
      at = Number.POSITIVE_INFINITY;
      last = fetch().finally(() => {
        at = performance.now();
      });
    }
    return last;
  };
}

/**
 * @param source undefined: nothing can be sealed or opened
 * @param times `limitMs`, how long it may take to answer, and `refreshMs`, how often it is asked at most, in milliseconds
 * @throws AdbindError `secret_keys_invalid`; what the source throws; LateAnswer
 */
export async function createKeyring(
  source: SecretKeySource | undefined,
  {
    limitMs = CALLBACK_MS.default,
    refreshMs = REFRESH_MS,
  }: { readonly limitMs?: number; readonly refreshMs?: number } = {},
): Promise<Keyring> {
  let held = await fetchedFrom(source, limitMs);
  const sealBytes: Keyring["sealBytes"] = (bytes, owner) => {
    if (held === undefined) throw keyless("there is no key to seal with");
    const { current, keys } = held;
    return { key_id: current, box: sealWith(keys[current]!, bytes, bound(owner, current)) };
  };
  const openBytes: Keyring["openBytes"] = ({ key_id: keyId, box }, owner) => {
    const key = held !== undefined && Object.hasOwn(held.keys, keyId) ? held.keys[keyId]! : undefined;
    if (key === undefined) return { ok: false, why: "lost" };
    const bytes = openWith(key, box, bound(owner, keyId));
    return bytes === undefined ? { ok: false, why: "foreign" } : { ok: true, bytes };
  };
  return {
    sealBytes,
    openBytes,
    get seals() {
      return held !== undefined;
    },
    get current() {
      return held?.current;
    },
    seal(text, owner) {
      const { key_id, box } = sealBytes(Buffer.from(text), owner);
      return { key_id, box: Buffer.from(box).toString("base64url") };
    },
    open({ key_id, box }, owner) {
      const opened = openBytes({ key_id, box: Buffer.from(box, "base64url") }, owner);
      return opened.ok ? { ok: true, text: Buffer.from(opened.bytes).toString() } : opened;
    },
    knows: (keyId) => held !== undefined && Object.hasOwn(held.keys, keyId),
    refresh: refreshing(async () => {
      held = (await fetchedFrom(source, limitMs)) ?? held;
    }, refreshMs),
  };
}
