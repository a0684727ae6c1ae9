/** `adbind keys`: the keys a seller signs with. Private parts go to a file and nowhere else. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { Command } from "commander";
import { wireNames } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import type { Jwk, SignatureAlgorithm } from "../runtime/signing/index.js";
import { changeKeyFile, createKeyFile, isExposed, publicKey, purposeOf, readKeyFile } from "./key-file.js";
import { printJson, shownPath, userPath } from "./output.js";
import { protocolWord, type WordOptions } from "./protocol-word.js";

const algorithms: Record<SignatureAlgorithm, () => { jwk: object; alg: string }> = {
  ed25519: () => ({ jwk: generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), alg: "EdDSA" }),
  "ecdsa-p256-sha256": () => ({
    jwk: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
    alg: "ES256",
  }),
};

/**
 * What a key is published for, by what it is to sign. Webhooks get the one purpose that verifiers of every release take
 * (docs/protocol/signing.md#key-purposes); a key for both would have to be one that some refuse, so there are two.
 */
const uses: Readonly<Record<string, readonly string[]>> = {
  request: ["request-signing"],
  webhook: ["webhook-signing"],
  both: ["request-signing", "webhook-signing"],
  response: ["response-signing"],
  governance: ["governance-signing"],
};

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** What the file holds does not allow it. */
const unfit = (what: string, remedy: string): AdbindError => new AdbindError("signing_key_invalid", what, { remedy });

function checkedAlgorithm(name: string): SignatureAlgorithm {
  if (!Object.hasOwn(algorithms, name))
    throw usage(`No algorithm ${name}`, `give ${Object.keys(algorithms).join(" or ")}`);
  return name as SignatureAlgorithm;
}

function checkedUse(name: string): readonly string[] {
  if (!Object.hasOwn(uses, name)) throw usage(`No key use ${name}`, `give ${Object.keys(uses).join(", ")}`);
  return uses[name]!;
}

/** A kid travels in a quoted header parameter and in logs. */
function checkedKid(kid: string): string {
  if (!/^[A-Za-z0-9._~:-]{1,128}$/.test(kid))
    throw usage("The kid is off", "give up to 128 letters, digits and . _ ~ : -");
  return kid;
}

/** Says when a key was made, which is what a rotation goes by; unique by chance, not by date. */
const freshKid = (alg: SignatureAlgorithm): string =>
  `${alg === "ed25519" ? "ed25519" : "p256"}-${new Date().toISOString().slice(0, 10)}-${randomBytes(4).toString("hex")}`;

/** Two keys under one name would be nobody's: of several, each has its purpose in its name. */
const kidFor = (given: string | undefined, use: string, count: number): string | undefined =>
  given === undefined || count === 1 ? given : `${given}-${use.replace("-signing", "")}`;

interface NewKey {
  readonly alg: SignatureAlgorithm;
  readonly kid: string | undefined;
  /** Member of the purpose, `<word>_use`, and its value. */
  readonly purpose: readonly [member: string, use: string];
}

function makeKey({ alg, kid, purpose: [member, use] }: NewKey): Jwk & { readonly kid: string } {
  const made = algorithms[alg]();
  const name = kid === undefined ? freshKid(alg) : checkedKid(kid);
  return { kid: name, ...made.jwk, alg: made.alg, use: "sig", key_ops: ["sign"], [member]: use };
}

const algorithmOf = (key: Jwk | undefined): SignatureAlgorithm =>
  key?.alg === "ES256" ? "ecdsa-p256-sha256" : "ed25519";

const generateCommand = (parent: Command): Command =>
  parent
    .command("generate")
    .description("a new key in a new file")
    .option("--alg <name>", "ed25519 or ecdsa-p256-sha256", "ed25519")
    .option("--kid <name>", "name the key is published under; default algorithm, date and chance")
    .option("--out <file>", "where the private key goes, mode 0600; never overwritten", "adbind-keys.private.json")
    .option(
      "--release <release>",
      "the release whose protocol the key is for; default that of the config or bindings here",
    )
    .option("--word <word>", "the protocol's word, instead of a release: the purpose is published as <word>_use")
    .option("--use <purpose>", `what it signs: ${Object.keys(uses).join(", ")}; both makes two keys`, "request")
    .addHelpText(
      "after",
      "\nExample: adbind keys generate --release proto@3.1.0 --out keys.private.json && adbind keys jwks keys.private.json",
    )
    .action(async (given: { alg: string; kid?: string; out: string; use: string } & WordOptions) => {
      const file = userPath(given.out);
      const purposes = checkedUse(given.use);
      const alg = checkedAlgorithm(given.alg);
      const member = wireNames(await protocolWord(given)).keyUse;
      const keys = purposes.map((use) =>
        makeKey({ alg, kid: kidFor(given.kid, use, purposes.length), purpose: [member, use] }),
      );
      createKeyFile(file, { keys });
      for (const key of keys) console.log(`${key.kid} in ${shownPath(file)}, ${key[member]}`);
      console.log(`publish their public halves: adbind keys jwks ${shownPath(file)}`);
    });

/** The newest key that can sign, of each purpose in the order of those keys, or of the purposes asked for. */
function newestOf(keys: readonly Jwk[], wanted: readonly string[] | undefined): Jwk[] {
  const byPurpose = new Map<string, Jwk>();
  const able = keys.filter(({ d }) => typeof d === "string");
  // Where none can sign any more, the new key takes the place of what is published.
  for (const key of able.length > 0 ? able : keys) {
    const [, use] = purposeOf(key);
    // Taken out and put back: the order is that of the newest.
    byPurpose.delete(use);
    byPurpose.set(use, key);
  }
  const missing = wanted?.find((use) => !byPurpose.has(use));
  if (missing !== undefined)
    throw unfit(`The file has no ${missing} key that can sign`, "adbind keys generate makes one");
  return [...byPurpose].flatMap(([use, key]) => (wanted === undefined || wanted.includes(use) ? [key] : []));
}

const rotateCommand = (parent: Command): Command =>
  parent
    .command("rotate")
    .description(
      "new keys beside those of a file, one of each purpose; the old ones stay, and stay published, until removed",
    )
    .argument("<file>", "the private file")
    .option("--alg <name>", "ed25519 or ecdsa-p256-sha256; default that of the newest key of the purpose")
    .option("--kid <name>", "name the new key is published under; default algorithm, date and chance")
    .option("--use <purpose>", `the purpose to renew alone: ${Object.keys(uses).join(", ")}; default each in the file`)
    .addHelpText(
      "after",
      "\nOrder: rotate, publish adbind keys jwks, wait until receivers' caches have run out (an hour is enough), sign with\n" +
        "the new key, wait for the last retry of what the old one signed (24 hours), then adbind keys remove the old one.\n" +
        "\nExample: adbind keys rotate keys.private.json",
    )
    .action((given: string, options: { alg?: string; kid?: string; use?: string }) => {
      const file = userPath(given);
      const made: string[] = [];
      const wanted = options.use === undefined ? undefined : checkedUse(options.use);
      changeKeyFile(file, ({ keys }) => {
        const old = newestOf(keys, wanted);
        for (const one of old) {
          const purpose = purposeOf(one);
          const kid = kidFor(options.kid, purpose[1], old.length);
          const key = makeKey({ alg: checkedAlgorithm(options.alg ?? algorithmOf(one)), kid, purpose });
          if (keys.some((other) => other.kid === key.kid))
            throw unfit(`The file has a key ${key.kid}`, "give another --kid");
          made.push(`${key.kid} in ${shownPath(file)}, ${purpose.join(" ")}`);
          keys = [...keys, key];
        }
        return { keys };
      });
      for (const line of made) console.log(line);
      console.log(`beside ${readKeyFile(file).keys.length - made.length} older`);
      console.log(`publish before signing with it: adbind keys jwks ${shownPath(file)}`);
    });

const removeCommand = (parent: Command): Command =>
  parent
    .command("remove")
    .description("takes a key out of a file: what it signed no longer verifies once the set is published")
    .argument("<file>", "the private file")
    .argument("<kid>", "the key")
    .option("--keep-public", "drop the private part only: it signs no more, but goes on being published")
    .addHelpText("after", "\nExample: adbind keys remove keys.private.json ed25519-2026-01-31-0c3f9a12")
    .action((given: string, kid: string, { keepPublic }: { keepPublic?: boolean }) => {
      const file = userPath(given);
      changeKeyFile(file, ({ keys }) => {
        const gone = keys.find((key) => key.kid === kid);
        if (gone === undefined) throw unfit(`The file has no key ${kid}`, "adbind keys jwks lists them");
        const rest = keys.flatMap((key) => (key === gone ? (keepPublic ? [publicKey(key)] : []) : [key]));
        if (!rest.some((key) => typeof key.d === "string")) {
          throw unfit(`${kid} is the last key that can sign`, "adbind keys rotate first");
        }
        return { keys: rest };
      });
      console.log(`${kid} ${keepPublic ? "signs no more" : "removed"}; publish: adbind keys jwks ${shownPath(file)}`);
    });

const jwksCommand = (parent: Command): Command =>
  parent
    .command("jwks")
    .description("prints the public set of a private file, for the place your brand file's jwks_uri names")
    .argument("<file>", "the private file")
    .addHelpText("after", "\nExample: adbind keys jwks keys.private.json > public/.well-known/jwks.json")
    .action((given: string) => {
      const file = userPath(given);
      const { keys } = readKeyFile(file);
      if (isExposed(file)) console.error(`warning: ${shownPath(file)} can be read by others; chmod 600 it`);
      printJson({ keys: keys.map(publicKey) });
    });

export function register(command: Command): void {
  for (const add of [generateCommand, rotateCommand, removeCommand, jwksCommand]) add(command);
}
