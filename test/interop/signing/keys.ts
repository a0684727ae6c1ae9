/** Keys as a user makes them: by `adbind keys generate --use both`, published by what `adbind keys jwks` publishes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { publicKey, readKeyFile } from "../../../cli/key-file.js";
import { register } from "../../../cli/keys.js";
import type { Jwk, SignatureAlgorithm } from "../../../runtime/signing/index.js";
import { runCommand } from "../../cli/run-command.js";

interface MadeKey {
  /** With its private part. */
  readonly key: Jwk;
  readonly published: Jwk;
}

export interface MadeKeys {
  readonly alg: SignatureAlgorithm;
  readonly request: MadeKey;
  readonly webhook: MadeKey;
}

export async function makeKeys(alg: SignatureAlgorithm, word: string): Promise<MadeKeys> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-interop-"));
  try {
    const file = path.join(folder, "keys.private.json");
    const given = ["generate", "--use", "both", "--alg", alg, "--word", word, "--out", file];
    const { code, err } = await runCommand(register, given);
    if (code !== 0) throw new Error(err);
    const made = readKeyFile(file).keys.map((key) => ({ key, published: publicKey(key) }));
    const forUse = (use: string): MadeKey => made.find(({ key }) => key[`${word}_use`] === use)!;
    return { alg, request: forUse("request-signing"), webhook: forUse("webhook-signing") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
