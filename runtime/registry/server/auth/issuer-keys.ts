/** Keys of the embedded issuer: one signs, those before it verify until the last token they signed has expired. */
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { AdbindError } from "../../../errors.js";
import type { RegistryAccess } from "../../../store/index.js";

/** Longest life of what is signed, in seconds: access tokens and ID tokens. */
export const SIGNED_TOKEN_SECONDS = 3_600;
/** How long a new key is published before it signs, in milliseconds: every instance knows it by then, and caches of keys do. */
const PUBLISH_MS = 120_000;
/** How far clocks of instances and clients may be apart, in milliseconds: a key verifies for so much longer. */
const CLOCK_MS = 300_000;
/** An instance looks for new keys this often, in milliseconds. */
const RELOAD_MS = 30_000;
/** For a key nobody knows it looks at most this often, in milliseconds: anybody can make one up. */
const UNKNOWN_MS = 1_000;
/** Two who rotate at once take turns; nobody loses more often than this. */
const MAX_TRIES = 5;

const SECRET = "issuer-key";

export interface IssuerKey {
  /** With its private part, `kid`, `alg` and `use`. */
  readonly jwk: JWK;
  /** Unix milliseconds. */
  readonly signsFrom: number;
  /** When it verifies no more, in unix milliseconds; null until another takes over. */
  readonly retires: number | null;
}

/** Registries from before keys were rotated keep a key alone. */
function keysIn(value: string): IssuerKey[] {
  const parsed = JSON.parse(value) as JWK & { readonly keys?: IssuerKey[] };
  return parsed.keys ?? [{ jwk: parsed, signsFrom: 0, retires: null }];
}

async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: crypto.randomUUID() };
}

const stored = async (access: RegistryAccess, now: number): Promise<string> =>
  access.secret(SECRET, async () => JSON.stringify(await makeKey()), now);

/** Keys that count at a time, the one that signs first. */
function keysAt(keys: readonly IssuerKey[], now: number): IssuerKey[] {
  const counting = keys.filter(({ retires }) => retires === null || retires > now);
  const signs = ({ signsFrom }: IssuerKey): number => (signsFrom <= now ? signsFrom : -1);
  return counting.sort((a, b) => signs(b) - signs(a));
}

/** All keys of a registry; the first is made where there is none. @param now unix milliseconds */
export const issuerKeys = async (access: RegistryAccess, now: number): Promise<IssuerKey[]> =>
  keysAt(keysIn(await stored(access, now)), now);

class NoKeys extends Error {}

/** As `issuerKeys`, but makes none: empty where the registry has not started yet. @param now unix milliseconds */
export async function listIssuerKeys(access: RegistryAccess, now: number): Promise<IssuerKey[]> {
  const none = (): never => {
    throw new NoKeys();
  };
  try {
    return keysAt(keysIn(await access.secret(SECRET, none, now)), now);
  } catch (error) {
    if (error instanceof NoKeys) return [];
    throw error;
  }
}

/**
 * Gives the issuer a new key. It signs two minutes later, and the one before it verifies until its last token has expired.
 * @param now unix milliseconds
 * @param revoke the keys before it are dropped at once, with every token they signed: for one that leaked
 * @throws AdbindError `account_invalid` when others rotate all the while
 */
export async function rotateIssuerKey(access: RegistryAccess, now: number, revoke = false): Promise<IssuerKey> {
  const key: IssuerKey = { jwk: await makeKey(), signsFrom: revoke ? now : now + PUBLISH_MS, retires: null };
  const retires = key.signsFrom + SIGNED_TOKEN_SECONDS * 1000 + CLOCK_MS;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await stored(access, now);
    const old = revoke ? [] : keysAt(keysIn(before), now).map((one) => ({ ...one, retires: one.retires ?? retires }));
    if (await access.replaceSecret(SECRET, before, JSON.stringify({ keys: [key, ...old] }))) return key;
  }
  throw new AdbindError("account_invalid", "the issuer's keys are being changed by others", { remedy: "try again" });
}

export interface IssuerKeyring {
  /** Private keys that count now, the one that signs first; read again when they may have changed. */
  current(): Promise<readonly JWK[]>;
  /** After a token with a key that is not among them. @returns whether others may be known now */
  lookAgain(): Promise<boolean>;
}

/** Opens the keys of an instance. Where the store does not answer, what is known stays. */
export async function openKeyring(access: RegistryAccess, now: () => number): Promise<IssuerKeyring> {
  let keys = keysIn(await stored(access, now()));
  let readAt = now();
  const read = async (): Promise<void> => {
    // Before it is answered: those that come meanwhile do not ask too.
    readAt = now();
    try {
      keys = keysIn(await stored(access, now()));
    } catch {
      // Who asks needs the store for more than this, and is told there.
    }
  };
  const due = (afterMs: number): boolean => Math.abs(now() - readAt) >= afterMs;
  return {
    async current() {
      if (due(RELOAD_MS)) await read();
      return keysAt(keys, now()).map(({ jwk }) => jwk);
    },
    async lookAgain() {
      if (!due(UNKNOWN_MS)) return false;
      await read();
      return true;
    },
  };
}
