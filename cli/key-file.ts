/** The file a signer keeps its keys in: a JWK set with private parts, oldest first. Only ever replaced as a whole. */
import { existsSync, linkSync, readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { wireNames } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { parseStrict } from "../runtime/json.js";
import type { Jwk } from "../runtime/signing/index.js";
import { withDraft } from "./draft-file.js";

export interface KeyFile {
  readonly keys: readonly Jwk[];
}

const unusable = (file: string, what: string, remedy: string, cause?: unknown): AdbindError =>
  new AdbindError("signing_key_invalid", what, { where: file, remedy, cause });

/** @throws AdbindError `file_unusable` when the file cannot be read */
export function readInput(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new AdbindError("file_unusable", "A file cannot be read", { where: file, remedy: "check the path", cause });
  }
}

/**
 * Reads a set of keys, private or public.
 * @throws AdbindError `signing_key_invalid` when it is no JWK set with distinct kids
 */
export function readKeyFile(file: string): KeyFile {
  const parsed = parseStrict(readInput(file));
  const keys = parsed.ok ? (parsed.value as { keys?: unknown } | null)?.keys : undefined;
  const isKey = (key: unknown): boolean => typeof (key as Jwk | null)?.kid === "string";
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey)) {
    throw unusable(file, "The file is no set of keys", 'expected {"keys": [...]}, as adbind keys generate writes it');
  }
  const set = keys as Jwk[];
  if (new Set(set.map(({ kid }) => kid)).size < set.length) {
    throw unusable(file, "Two keys of the file share a kid", "give each key a kid of its own");
  }
  return { keys: set };
}

/** Is the file readable by anyone but its owner? Unknown, and so false, where modes mean nothing. */
export const isExposed = (file: string): boolean => process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;

const textOf = (content: KeyFile): string => `${JSON.stringify(content, null, 2)}\n`;

/** Gives a draft its name unless that is taken, in one step where the file system can. */
function placeNew(draft: string, file: string): void {
  const taken = (cause?: unknown) =>
    unusable(file, "The file exists already", "give --out a name that is not taken", cause);
  try {
    linkSync(draft, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST" || existsSync(file)) throw taken(cause);
    // No hard links here; the lock still keeps two of us apart.
    renameSync(draft, file);
  }
}

/**
 * Writes a new key file, mode 0600 from the start.
 * @throws AdbindError `signing_key_invalid` when something is there already, which is never overwritten
 */
export function createKeyFile(file: string, content: KeyFile): void {
  withDraft(file, () => textOf(content), { place: (draft) => placeNew(draft, file), unusable });
}

/**
 * Replaces a key file by what `change` makes of it, at once for every reader, mode 0600 from the start.
 * @throws AdbindError `signing_key_invalid`
 */
export function changeKeyFile(given: string, change: (content: KeyFile) => KeyFile): void {
  readInput(given);
  // A link stays a link: secrets are often mounted as one.
  const file = realpathSync(given);
  withDraft(file, () => textOf(change(readKeyFile(file))), { place: (draft) => renameSync(draft, file), unusable });
}

/** Purpose of a key: its `<word>_use` member and the value. */
export const purposeOf = (key: Jwk | undefined): readonly [member: string, use: string] => {
  const found = Object.entries(key ?? {}).find(([member]) => /^[a-z][a-z0-9]*_use$/.test(member));
  return found === undefined ? [wireNames("proto").keyUse, "request-signing"] : [found[0], String(found[1])];
};

/** The public half as a `jwks_uri` serves it. Built from what belongs there, so that nothing else can slip in. */
export function publicKey(key: Jwk): Jwk {
  const { kid, kty, crv, x, y, alg } = key;
  const [member, use] = purposeOf(key);
  const material = { kty, crv, x, ...(y !== undefined && { y }) };
  return { kid, ...material, alg, use: "sig", key_ops: ["verify"], [member]: use } as Jwk;
}

/** The newest key that can sign, or the one asked for. */
export function signingKey(file: string, kid?: string): Jwk & { readonly kid: string } {
  const able = readKeyFile(file).keys.filter(
    (key) => typeof key.d === "string" && (kid === undefined || key.kid === kid),
  );
  const key = able.at(-1);
  if (key === undefined) {
    throw unusable(
      file,
      kid === undefined ? "No key of the file has a private part" : `The file has no private key ${kid}`,
      "adbind keys rotate adds one",
    );
  }
  return key as Jwk & { readonly kid: string };
}
