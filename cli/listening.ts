/** What is said of an address that a server cannot have. */
import { AdbindError } from "../runtime/errors.js";

const faults: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken",
  EACCES: "may not be listened on",
  EADDRNOTAVAIL: "is of no interface of this machine",
  ENOTFOUND: "names no host",
};

/** @returns undefined for an error that is not the address's */
export function unusableAddress(
  { host, port }: { readonly host: string; readonly port: number },
  cause: unknown,
): AdbindError | undefined {
  const fault = faults[(cause as { code?: string }).code ?? ""];
  if (fault === undefined) return undefined;
  return new AdbindError("address_unusable", `${host}:${port} ${fault}`, {
    remedy: "choose another --port or --host",
    cause,
  });
}
