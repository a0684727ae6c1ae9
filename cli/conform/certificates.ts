/** Certificates that a run trusts, from a file. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";

const isCertificate = (block: string): boolean => {
  try {
    return new X509Certificate(block) instanceof X509Certificate;
  } catch {
    return false;
  }
};

/**
 * A file that has none would be taken in silence, and the agent refused as if it had not been given.
 * @returns the file's text, PEM
 * @throws AdbindError `file_unusable`
 */
export function certificatesIn(given: string): string {
  const file = userPath(given);
  const text = readFileSync(file, "utf8");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length > 0 && blocks.every(isCertificate)) return text;
  throw new AdbindError("file_unusable", "the file has no certificates that can be read", {
    where: file,
    remedy: "give a PEM file of certificates: -----BEGIN CERTIFICATE----- and so on",
  });
}
