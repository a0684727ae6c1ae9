/** Opens connections to checked addresses only: the name is resolved once, and that answer is what gets dialled. */
import { isIP, type LookupFunction, type Socket, connect as tcpConnect } from "node:net";
import { getCACertificates, connect as tlsConnect } from "node:tls";
import type { buildConnector } from "undici";
import { addressKind } from "./address.js";
import { NetFault } from "./codes.js";
import { hearingContinue } from "./continued.js";
import type { ResolvedAddress } from "./name-lookup.js";
import type { DialOptions, NetPolicy } from "./policy.js";

const allowed = (address: string, policy: NetPolicy): boolean => {
  const kind = addressKind(address);
  return kind === "public" || (kind === "loopback" && policy.allowLoopback);
};

/**
 * Addresses of a host, every one of them allowed: a single bad one refuses the name, since which of them a client picks
 * is up to chance and to whoever runs the zone.
 * @throws NetFault `dns_failed` or `address_refused`
 */
export async function resolveChecked(host: string, policy: NetPolicy): Promise<readonly ResolvedAddress[]> {
  const literal = isIP(host);
  let found: readonly ResolvedAddress[];
  try {
    found = literal !== 0 ? [{ address: host, family: literal }] : await policy.lookup(host);
  } catch {
    throw new NetFault("dns_failed", `${host} does not resolve`);
  }
  if (found.length === 0) throw new NetFault("dns_failed", `${host} has no address`);
  const refused = found.find(({ address }) => !allowed(address, policy));
  if (refused !== undefined) throw new NetFault("address_refused", `${host} resolves to ${refused.address}`);
  // The family is the address's, whatever the resolver says of it: a wrong one would make the dialler misread it.
  return found.map(({ address }) => ({ address, family: isIP(address) }));
}

const pinned =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_host, options, done) => {
    const first = addresses[0] as ResolvedAddress;
    if (options.all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };

const dialPinned = ({ host, port, addresses }: DialOptions): Socket =>
  tcpConnect({ host, port, lookup: pinned(addresses), autoSelectFamily: addresses.length > 1, noDelay: true });

/** The second look, at the socket itself: whatever the dialler did, no byte goes to an address that was not checked. */
function checkPeer(socket: Socket, options: DialOptions, policy: NetPolicy): void {
  const peer = socket.remoteAddress;
  const checked = peer !== undefined && allowed(peer, policy) && options.addresses.some((one) => one.address === peer);
  if (!checked) throw new NetFault("address_refused", `${options.host} was connected to ${peer ?? "nothing"}`);
}

const opened = (socket: Socket, event: "connect" | "secureConnect"): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once("error", reject);
    socket.once("close", () => reject(new NetFault("connect_failed", "closed while connecting")));
  });

const canonicalAddress = (address: ResolvedAddress): ResolvedAddress =>
  // A socket reports the compressed form, which is the one URL serialises.
  address.family === 6 ? { address: new URL(`http://[${address.address}]`).hostname.slice(1, -1), family: 6 } : address;

interface Target {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/** A connection being opened, so that whoever gives up on it can stop it. */
interface Attempt {
  socket?: Socket;
  cancelled: boolean;
}

async function openTcp(target: Target, policy: NetPolicy, attempt: Attempt): Promise<Socket> {
  const addresses = (await resolveChecked(target.host, policy)).map(canonicalAddress);
  // A resolver slower than the limit must not cause a connection nobody waits for.
  if (attempt.cancelled) throw new NetFault("connect_timeout", target.host);
  const options = { host: target.host, port: target.port, addresses };
  const socket = (policy.dial ?? dialPinned)(options);
  attempt.socket = socket;
  // Faults are reported through the promise; without a listener a late one would end the process.
  socket.on("error", () => undefined);
  try {
    await opened(socket, "connect");
  } catch (error) {
    throw error instanceof NetFault ? error : new NetFault("connect_failed", `${target.host}: ${errorCode(error)}`);
  }
  checkPeer(socket, options, policy);
  return socket;
}

async function openTls(socket: Socket, target: Target, policy: NetPolicy): Promise<Socket> {
  const secure = tlsConnect({
    socket,
    host: target.host,
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    // Said out loud: an environment variable can otherwise turn verification off for the whole process.
    rejectUnauthorized: true,
    // The name, never the pinned address: certificate and SNI stay the URL's.
    ...(isIP(target.host) === 0 && { servername: target.host }),
    ...(policy.ca !== undefined && { ca: [...getCACertificates("default"), ...policy.ca] }),
  });
  try {
    await opened(secure, "secureConnect");
  } catch (error) {
    throw new NetFault("tls_failed", `${target.host}: ${tlsReason(error)}`);
  }
  // By TLS 1.3 a server refuses who has no certificate after the handshake. What it says then would be lost behind its hanging up.
  secure.once("error", (error) => secure.destroy(error));
  return secure;
}

/** Of some faults of a certificate, as a key that is too short, the code says nothing, and the library's words say all. */
const tlsReason = (error: unknown): string => {
  const code = errorCode(error);
  return code === "UNSPECIFIED" ? (error as Error).message : code;
};

/** The system's code of an error: its message may quote more than a log should hold. */
export const errorCode = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string") return code;
  const inner = (error as { errors?: unknown[] } | null)?.errors?.[0];
  return inner === undefined ? "unknown error" : errorCode(inner);
};

async function open(target: Target, policy: NetPolicy): Promise<Socket> {
  const attempt: Attempt = { cancelled: false };
  const work = async (): Promise<Socket> => {
    const socket = await openTcp(target, policy, attempt);
    return target.secure ? openTls(socket, target, policy) : socket;
  };
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    const { connectMs } = policy.timeouts;
    const fault = new NetFault("connect_timeout", `${target.host} after ${connectMs} ms`);
    timer = setTimeout(() => reject(fault), connectMs);
  });
  try {
    return await Promise.race([work(), expiry]);
  } catch (error) {
    attempt.cancelled = true;
    attempt.socket?.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A connector for undici: it never sees an address, and a connection it hands out has been checked twice. */
export const guardedConnector =
  (policy: NetPolicy): buildConnector.connector =>
  (options, callback) => {
    const target = {
      host: options.hostname.replace(/^\[|\]$/g, ""),
      port: Number(options.port || (options.protocol === "https:" ? 443 : 80)),
      secure: options.protocol === "https:",
    };
    open(target, policy).then(
      (socket) => callback(null, hearingContinue(socket)),
      (error: Error) => callback(error, null),
    );
  };
