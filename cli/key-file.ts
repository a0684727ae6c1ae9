/** The file a signer keeps its keys in: a JWK set with private parts, oldest first. Only ever replaced as a whole. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { wireNames } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { parseStrict } from "../runtime/json.js";
import type { Jwk } from "../runtime/signing/index.js";

export interface KeyFile {
  readonly keys: readonly Jwk[];
}

/** Read and write for the owner alone: whoever reads the file can sign for us. */
const PRIVATE_MODE = 0o600;

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

function writeDurably(handle: number, content: KeyFile): void {
  // The umask only ever takes away; this also holds where a default ACL would add.
  fchmodSync(handle, PRIVATE_MODE);
  writeSync(handle, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(handle);
}

/**
 * Writes beside the real file, in one that is also the lock: who makes it may read the old content and put the new one
 * in its place, and nobody else meanwhile.
 */
function withDraft(file: string, content: () => KeyFile, place: (draft: string) => void): void {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  let handle: number;
  try {
    handle = openSync(draft, "wx", PRIVATE_MODE);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") {
      const remedy = `wait, or remove ${draft} when nothing else is running`;
      throw unusable(file, "The file is being changed", remedy, cause);
    }
    throw unusable(file, "The file cannot be written", "check the folder and its permissions", cause);
  }
  try {
    try {
      writeDurably(handle, content());
    } finally {
      closeSync(handle);
    }
    place(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

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
  withDraft(
    file,
    () => content,
    (draft) => placeNew(draft, file),
  );
}

/**
 * Replaces a key file by what `change` makes of it, at once for every reader, mode 0600 from the start.
 * @throws AdbindError `signing_key_invalid`
 */
export function changeKeyFile(given: string, change: (content: KeyFile) => KeyFile): void {
  readInput(given);
  // A link stays a link: secrets are often mounted as one.
  const file = realpathSync(given);
  withDraft(
    file,
    () => change(readKeyFile(file)),
    (draft) => renameSync(draft, file),
  );
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
