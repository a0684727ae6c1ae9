/** Passwords of local accounts, kept as scrypt digests that carry their own parameters. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** 2^15: with r = 8, 32 MiB and about 80 ms a digest; p = 3 makes up for the memory (OWASP's table for scrypt). */
const LOG_N = 15;
const R = 8;
const P = 3;
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

const digest = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Room for 128 N r bytes and what scrypt keeps beside them.
    const maxmem = 256 * (options.N ?? 1) * (options.r ?? 1);
    // The same characters typed on two systems may come composed or not.
    scrypt(password.normalize("NFKC"), salt, DIGEST_BYTES, { ...options, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await digest(password, salt, { N: 2 ** LOG_N, r: R, p: P });
  return ["scrypt", LOG_N, R, P, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** Of no password; compared with when there is no such user, so that both cases take the same time. */
let nobody: Promise<string> | undefined;

/** @param stored undefined when there is no such user; the answer is then false, and takes as long */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean> {
  nobody ??= hashPassword(randomBytes(SALT_BYTES).toString("hex"));
  const [, logN, r, p, salt, key] = (stored ?? (await nobody)).split("$");
  const expected = Buffer.from(key!, "base64url");
  const given = await digest(password, Buffer.from(salt!, "base64url"), {
    N: 2 ** Number(logN),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(expected, given) && stored !== undefined;
}
