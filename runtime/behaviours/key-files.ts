/** Private keys in files, as `adbind keys` writes and rotates them. */
import { readFileSync } from "node:fs";
import { AdbindError } from "../errors.js";

export type NamedKey = object & { readonly kid: string };

/** What keys of a setting are made for: the first is what `adbind keys generate` is told. */
const uses = {
  SIGNING_KEY: ["webhook", "request"],
  RESPONSE_SIGNING_KEY: ["response"],
} as const;

export interface KeysOfFile {
  /** The newest private key: it signs. */
  readonly key: NamedKey;
  /** What has signed before, whether it still could or not. */
  readonly former: readonly NamedKey[];
}

/** @throws AdbindError `seller_option_invalid` for a file without a private key for the setting */
export function keysOfFile(setting: keyof typeof uses, file: string): KeysOfFile {
  const [use] = uses[setting];
  const unusable = (what: string): AdbindError =>
    new AdbindError("seller_option_invalid", what, {
      where: setting,
      remedy: `adbind keys generate --use ${use} --out <file> makes one`,
    });
  let held: unknown;
  try {
    held = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw unusable(`${file} cannot be read as JSON: ${(cause as Error).message}`);
  }
  const all = keysFor(uses[setting], held);
  const key = all.findLast((one) => typeof (one as { d?: unknown }).d === "string");
  if (key === undefined) throw unusable(`${file} has no private key with a kid that is for ${use}-signing`);
  return { key, former: all.filter((one) => one !== key) };
}

/** One JWK, or those of a set that are for one of the uses, oldest first. */
function keysFor(wanted: readonly string[], held: unknown): NamedKey[] {
  const { keys } = { ...(held as { keys?: unknown } | null) };
  const isFor = (key: object): boolean => {
    const [, purpose] = Object.entries(key).find(([member]) => /^[a-z][a-z0-9]*_use$/.test(member)) ?? [];
    return purpose === undefined || wanted.some((use) => purpose === `${use}-signing`);
  };
  const all: unknown[] = Array.isArray(keys)
    ? keys.filter((key) => typeof key === "object" && key && isFor(key))
    : [held];
  return all.filter((key): key is NamedKey => typeof (key as { kid?: unknown } | null)?.kid === "string");
}
