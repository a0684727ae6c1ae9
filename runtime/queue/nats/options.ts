/** What a queue on NATS is given. */
import { AdbindError } from "../../errors.js";

export interface NatsOptions {
  /** `nats://host:port`, one or more; with commas between them in one text, too. */
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

export const serversOf = ({ servers }: NatsOptions): string[] =>
  [servers].flat().flatMap((one) =>
    one
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== ""),
  );

/** @throws AdbindError `queue_option_invalid` */
export function checkNatsOptions(options: NatsOptions): void {
  const { replicas = 3, resendMs = 0 } = options;
  // Not said which: one may hold a password.
  if (serversOf(options).length === 0 || !serversOf(options).every((one) => /^(nats|tls):\/\/\S+$/.test(one)))
    throw unusableQueue("servers", "give nats://host:4222, or several");
  if (!REPLICAS.includes(replicas)) throw unusableQueue("replicas", `give ${REPLICAS.join(", ")}`);
  if (!Number.isSafeInteger(resendMs) || resendMs < 0) throw unusableQueue("resendMs", "give milliseconds");
}
