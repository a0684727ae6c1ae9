/** What a queue on NATS is given. */
import { AdbindError } from "../../errors.js";

/** How to reach NATS, and how its stream keeps jobs. */
export interface NatsOptions {
  /**
   * `nats://host:port` or `tls://...`, one or more; with commas between them in one text, too. A user and password, or a token,
   * may stand before an `@`.
   */
  readonly servers: string | readonly string[];
  /** Servers that keep each ticket: 3 by default, 1 for a server that stands alone. */
  readonly replicas?: number;
  /** Further options of `connect` of @nats-io/transport-node: credentials, TLS. */
  readonly connection?: object;
  /** How long a ticket that nobody claims is waited for before another is made, in milliseconds. Default 30,000. */
  readonly resendMs?: number;
}

/** What JetStream keeps a stream on. */
const REPLICAS = [1, 3, 5];

export const unusableQueue = (where: string, remedy: string): AdbindError =>
  new AdbindError("queue_option_invalid", "a queue on NATS cannot be opened", { where, remedy });

const urlsOf = ({ servers }: NatsOptions): (URL | null)[] =>
  [servers]
    .flat()
    .flatMap((one) => one.split(","))
    .filter((text) => text.trim() !== "")
    .map((text) => URL.parse(text.trim()));

/** Servers without what proves who asks: may be shown. */
export const hostsOf = (options: NatsOptions): string[] => urlsOf(options).map((url) => url?.host ?? "");

/** What the client connects by: it reads neither credentials nor `tls:` out of a URL. */
export function connectionOf(options: NatsOptions): { readonly servers: string[]; readonly [option: string]: unknown } {
  const urls = urlsOf(options).filter((url) => url !== null);
  const { username = "", password = "" } = urls.find((url) => url.username !== "") ?? {};
  const [user, pass] = [username, password].map(decodeURIComponent);
  const known = username === "" ? {} : password === "" ? { token: user } : { user, pass };
  const tls = urls.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {};
  return { ...known, ...tls, ...options.connection, servers: hostsOf(options) };
}

/** @throws AdbindError `queue_option_invalid` */
export function checkNatsOptions(options: NatsOptions): void {
  const { replicas = 3, resendMs = 0 } = options;
  // Not said which: one may hold a password.
  const urls = urlsOf(options);
  if (urls.length === 0 || !urls.every((url) => url !== null && url.host !== "" && /^(nats|tls):$/.test(url.protocol)))
    throw unusableQueue("servers", "give nats://host:4222, or several");
  if (!REPLICAS.includes(replicas)) throw unusableQueue("replicas", `give ${REPLICAS.join(", ")}`);
  if (!Number.isSafeInteger(resendMs) || resendMs < 0) throw unusableQueue("resendMs", "give milliseconds");
}
