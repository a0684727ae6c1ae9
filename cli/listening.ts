/** Servers of commands: where they listen, and what is said of an address that they cannot have. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AdbindError } from "../runtime/errors.js";
import { wholeNumber } from "./output.js";

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

const PORTS = "give 0 to 65535; 0 is any that is free";
const MOST = 65_535;

/** @throws AdbindError `usage` */
export function portNumber(text: string): number {
  const port = text === "0" ? 0 : wholeNumber(text, "port", PORTS);
  if (port > MOST) throw new AdbindError("usage", `${text} is no port`, { remedy: PORTS });
  return port;
}

/**
 * @returns the URL that it listens at
 * @throws AdbindError `address_unusable`
 */
export async function listenAt(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(unusableAddress({ host, port }, cause) ?? cause));
    server.listen(port, host, resolve);
  });
  const { port: at } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${at}`;
}
