/**
 * Bodies of events at rest, sealed where the sender is told to: as the secrets of registrations are, each bound to its
 * principal and its key. What is in clear and what is sealed stand side by side, so that the option can be changed at any time.
 */
import type { BoxOwner, Keyring } from "./sealing.js";

/** Whose body it is, and which. */
export interface BodyOwner {
  readonly principal: string;
  /** Idempotency key of its event, or what else names it. */
  readonly key: string;
}

export type OpenedBody =
  | { readonly ok: true; readonly body: Uint8Array }
  /** `lost`: its key is not here; it may be elsewhere, or come back. */
  | { readonly ok: false; readonly lost: boolean; readonly why: string };

export interface Bodies {
  /** @returns the text itself where nothing is sealed */
  seal(body: string, owner: BodyOwner): string | Uint8Array;
  open(stored: Uint8Array, owner: BodyOwner): OpenedBody;
}

/** What a sealed body begins with: no JSON does. Then the length of its key's id, the id, and the box. */
const MARK = 0x01;
const HEAD_BYTES = 2;

/** Bytes of a stored body that tell its key. */
export const KEY_ID_BYTES = HEAD_BYTES + 64;

const ownerOf = ({ principal, key }: BodyOwner): BoxOwner => ({ principal, registration: `body ${key}`, url: "" });

/** Id of the key that a stored body is sealed under; undefined for one in clear. */
export function bodyKeyId(stored: Uint8Array): string | undefined {
  if (stored[0] !== MARK) return undefined;
  return new TextDecoder().decode(stored.subarray(HEAD_BYTES, HEAD_BYTES + (stored[1] ?? 0)));
}

/** @throws AdbindError `secret_keys_invalid` where there is no key */
export function sealBody(keyring: Pick<Keyring, "sealBytes">, body: Uint8Array, owner: BodyOwner): Uint8Array {
  const { key_id: keyId, box } = keyring.sealBytes(body, ownerOf(owner));
  const id = new TextEncoder().encode(keyId);
  return Buffer.concat([Uint8Array.of(MARK, id.length), id, box]);
}

export function openBody(keyring: Pick<Keyring, "openBytes">, stored: Uint8Array, owner: BodyOwner): OpenedBody {
  const keyId = bodyKeyId(stored);
  if (keyId === undefined) return { ok: true, body: stored };
  const box = stored.subarray(HEAD_BYTES + stored[1]!);
  const opened = keyring.openBytes({ key_id: keyId, box }, ownerOf(owner));
  if (opened.ok) return { ok: true, body: opened.bytes };
  return opened.why === "lost"
    ? { ok: false, lost: true, why: `its body is under the key ${keyId}, which is not here` }
    : { ok: false, lost: false, why: "its body does not belong to it: a column was changed" };
}

/** @param seals whether what is stored from now on is sealed; what was sealed opens either way */
export const bodiesOf = (keyring: Keyring, seals: boolean): Bodies => ({
  seal: (body, owner) => (seals ? sealBody(keyring, Buffer.from(body), owner) : body),
  open: (stored, owner) => openBody(keyring, stored, owner),
});

/** Text columns hold a sealed one after this; no JSON begins so. */
const TEXT_MARK = "~";

export const sealText = (bodies: Bodies, text: string, owner: BodyOwner): string => {
  const stored = bodies.seal(text, owner);
  return typeof stored === "string" ? stored : TEXT_MARK + Buffer.from(stored).toString("base64url");
};

const bytesOf = (stored: string): Uint8Array =>
  stored.startsWith(TEXT_MARK) ? Buffer.from(stored.slice(1), "base64url") : new TextEncoder().encode(stored);

export const openText = (bodies: Bodies, stored: string, owner: BodyOwner): OpenedBody =>
  bodies.open(bytesOf(stored), owner);

export const textKeyId = (stored: string): string | undefined => bodyKeyId(bytesOf(stored));
