/** The servers of a stream, as a queue uses them: tickets in, tickets out, each with a deadline. */
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { AdbindError } from "../../errors.js";
import { loadPeer } from "../../peer.js";
import { connectionOf, hostsOf, type NatsOptions } from "./options.js";
import { prepareStream, type StreamNames, streamNames, type TicketSource } from "./stream.js";

/** What a ticket says. */
export interface Ticket {
  readonly job: number;
  readonly endpoint: string;
}

/** A ticket that is leased from the stream. */
export interface LeasedTicket extends Ticket {
  /** Where its fate is told. */
  readonly reply: string;
  /** How often it was given out, this time among them. */
  readonly deliveries: number;
}

/** A ticket to be put into the stream. */
export interface NewTicket extends Ticket {
  /** The stream takes one under each, for two minutes. */
  readonly id: string;
  /** Not before, unix milliseconds. */
  readonly at?: number;
}

/** How long a server may take to answer, in milliseconds: longer than a new leader needs to be elected. */
const ANSWER_MS = 5_000;
/** How long what was said last may take to reach a server, in milliseconds. */
const FLUSH_MS = 1_000;
/** Servers that keep each ticket: one may be away. */
const REPLICAS = 3;
/** Between two questions to servers that have no leader, in milliseconds. */
const ELECTION_MS = 100;
/** What a lease in the stream outlasts one in the database by, in milliseconds: who is given its ticket finds its row free. */
export const LONGER_MS = 1_000;

interface Ready {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly newHeaders: () => MsgHdrs;
  readonly newInbox: () => string;
}

/** Messages that a server sends in place of a ticket. */
const NONE_LEFT = [404, 408];

async function loaded() {
  const wanted = ["@nats-io/transport-node", "@nats-io/jetstream"];
  return loadPeer(wanted, "a queue on NATS", async () => ({
    ...(await import("@nats-io/transport-node")),
    ...(await import("@nats-io/jetstream")),
  }));
}

export class Servers {
  #ready: Promise<Ready> | undefined;
  #closed = false;
  /** Ends requests that stand. */
  readonly #asked = new Set<() => void>();
  readonly #names: StreamNames;

  constructor(
    readonly options: NatsOptions,
    readonly of: TicketSource,
  ) {
    this.#names = streamNames(of);
  }

  /** For people. */
  get where(): string {
    return hostsOf(this.options).join(", ");
  }

  /** Puts tickets into the stream. Resolves when a majority of the servers has all of them. */
  async put(tickets: readonly NewTicket[]): Promise<void> {
    if (tickets.length === 0) return;
    const ready = await this.#connected();
    try {
      await Promise.all(tickets.map((ticket) => this.#putOne(ready, ticket)));
    } catch (error) {
      throw await this.#told(error);
    }
  }

  #putOne({ js, newHeaders }: Ready, { id, at, job, endpoint }: NewTicket): Promise<unknown> {
    const { now, later } = this.#names;
    const payload = JSON.stringify({ job, endpoint } satisfies Ticket);
    const options = { msgID: id, timeout: ANSWER_MS };
    if (at === undefined) return js.publish(now, payload, options);
    const headers = newHeaders();
    headers.set("Nats-Schedule", `@at ${new Date(at).toISOString()}`);
    headers.set("Nats-Schedule-Target", now);
    return js.publish(`${later}.${job}`, payload, { ...options, headers });
  }

  /**
   * Leases tickets.
   * @param waitMs how long to wait for the first, in milliseconds; by default only those that are there are answered
   */
  async lease(limit: number, waitMs = 0): Promise<LeasedTicket[]> {
    const end = performance.now() + ANSWER_MS;
    for (;;) {
      try {
        return await this.#lease(limit, waitMs);
      } catch (error) {
        // A new leader is elected within a second or two.
        if (!(error instanceof NoLeader) || this.#closed || performance.now() > end) throw await this.#told(error);
        await new Promise((resolve) => setTimeout(resolve, ELECTION_MS));
      }
    }
  }

  async #lease(limit: number, waitMs: number): Promise<LeasedTicket[]> {
    const { nc, newInbox } = await this.#connected();
    const { stream, consumer } = this.#names;
    const inbox = newInbox();
    const found: LeasedTicket[] = [];
    const request = { batch: limit, ...(waitMs === 0 ? { no_wait: true } : { expires: waitMs * 1_000_000 }) };
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => end(new Error("no answer")), waitMs + ANSWER_MS);
      const end = (error?: Error): void => {
        clearTimeout(late);
        this.#asked.delete(end);
        sub.unsubscribe();
        if (error === undefined || found.length > 0) resolve();
        else reject(error);
      };
      const sub = nc.subscribe(inbox, {
        callback: (error, message) => {
          if (error !== null) return end(error);
          const code = message.headers?.code ?? 0;
          const tickets = code === 0 ? ticketIn(message) : [];
          found.push(...tickets);
          // What somebody else has put there is nobody's ticket.
          if (code === 0 && tickets.length === 0) nc.publish(message.reply!, "+TERM");
          if (code !== 0 && code !== 100) end(NONE_LEFT.includes(code) ? undefined : statusError(message));
          else if (found.length >= limit || (waitMs > 0 && found.length > 0)) end();
        },
      });
      this.#asked.add(end);
      nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), { reply: inbox });
    });
    return found;
  }

  /** Takes tickets out of the stream. Where that gets lost they come again, and their rows say that they are over. */
  async done(tickets: readonly LeasedTicket[]): Promise<void> {
    await this.#say(tickets, "+ACK");
  }

  /** Prolongs leases. */
  async renew(tickets: readonly LeasedTicket[]): Promise<void> {
    await this.#say(tickets, "+WPI");
  }

  /** Gives tickets back, to be leased again after a while in milliseconds. */
  async giveBack(tickets: readonly LeasedTicket[], afterMs: number): Promise<void> {
    await this.#say(tickets, `-NAK ${JSON.stringify({ delay: afterMs * 1_000_000 })}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#asked) end();
    const ready = await this.#ready?.catch(() => undefined);
    if (ready === undefined) return;
    const late = new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref());
    await Promise.race([ready.nc.flush().catch(() => undefined), late]);
    await ready.nc.close();
  }

  async #say(tickets: readonly LeasedTicket[], word: string): Promise<void> {
    if (tickets.length === 0) return;
    const ready = await this.#ready?.catch(() => undefined);
    if (ready === undefined || ready.nc.isClosed()) return;
    for (const { reply } of tickets) ready.nc.publish(reply, word);
  }

  /** @throws AdbindError `queue_unreachable` */
  #connected(): Promise<Ready> {
    if (this.#closed) return Promise.reject(this.#unusable(new Error("it is closed")));
    this.#ready ??= this.#connect().catch((error: unknown) => {
      this.#ready = undefined;
      throw error instanceof AdbindError ? error : this.#unusable(error);
    });
    return this.#ready;
  }

  async #connect(): Promise<Ready> {
    const { connect, createInbox, headers, jetstream, jetstreamManager } = await loaded();
    const settings = { timeout: ANSWER_MS, maxReconnectAttempts: -1, reconnectTimeWait: 500, name: "adbind" };
    const nc = await connect({ ...settings, ...connectionOf(this.options) });
    try {
      const jsm = await jetstreamManager(nc, { timeout: ANSWER_MS });
      await this.#prepare(jsm);
      // By the server's will, or because credentials ended: the next use connects anew.
      nc.closed()
        .then(() => {
          this.#ready = undefined;
        })
        .catch(() => undefined);
      const js = jetstream(nc, { timeout: ANSWER_MS });
      return { nc, jsm, js, newHeaders: headers, newInbox: () => createInbox() };
    } catch (error) {
      await nc.close();
      throw error;
    }
  }

  #prepare(jsm: JetStreamManager): Promise<void> {
    const leaseMs = this.of.leaseMs + LONGER_MS;
    return prepareStream(jsm, { ...this.of, leaseMs }, this.options.replicas ?? REPLICAS);
  }

  /** What a server or the way to it has said, as an error of ours. */
  async #told(error: unknown): Promise<AdbindError> {
    if (error instanceof AdbindError) return error;
    // A stream that was deleted is made again, and a consumer.
    const made = await this.#ready?.catch(() => undefined);
    if (made !== undefined && !this.#closed) this.#prepare(made.jsm).catch(() => undefined);
    return this.#unusable(error);
  }

  #unusable(cause: unknown): AdbindError {
    const why = cause instanceof Error ? cause.message : String(cause);
    const told = isRefusal(cause) ? REFUSED : AWAY;
    return new AdbindError("queue_unreachable", `${told.what}: ${why || "no leader"}`, {
      where: this.where,
      remedy: told.remedy,
      cause,
    });
  }
}

/** What people are told of servers that do not answer, and of those that do. */
const AWAY = {
  what: "no majority of the NATS servers answers",
  remedy: "nothing is lost; deliveries go on when two of three servers run",
} as const;
const REFUSED = {
  what: "the NATS servers refuse what the queue asks of them",
  remedy:
    "nothing is lost; deliveries go on when they do not: JetStream has to be on, and a server that stands alone wants replicas: 1",
} as const;
/** What a server says of a request that it will not take, and of copies that it has no others for. */
const [BAD_REQUEST, NO_REPLICAS] = [400, 10_074];
const refusals = ["AuthorizationError", "UserAuthenticationExpiredError", "PermissionViolationError"];

/** Running more servers would change nothing. Without a majority they answer as if they had no JetStream: that is no refusal. */
function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { status, code } = cause as { readonly status?: unknown; readonly code?: unknown };
  if (cause.name === "JetStreamApiError") return status === BAD_REQUEST || code === NO_REPLICAS;
  return refusals.includes(cause.name);
}

/** The stream or its consumer has no leader among the servers now. */
class NoLeader extends Error {}

const NO_LEADER = 503;

function statusError({ headers }: Msg): Error {
  if (headers?.code === NO_LEADER) return new NoLeader("no server leads the stream");
  return new Error(`${headers?.code} ${headers?.description ?? ""}`);
}

/** Words of a subject for answers of a server that names a domain, or its place, in it; of others it has nine. */
const LONG_ANSWER_WORDS = 11;

/** The server tells it by where its fate is to be told: `$JS.ACK.<stream>.<consumer>.<deliveries>...`. */
function deliveriesIn(reply: string): number {
  const words = reply.split(".");
  return Number(words[words.length >= LONG_ANSWER_WORDS ? 6 : 4]);
}

/** None in what is no ticket. */
function ticketIn(message: Msg): LeasedTicket[] {
  try {
    const { job, endpoint } = message.json<Ticket>();
    if (Number.isSafeInteger(job) && typeof endpoint === "string" && message.reply !== undefined)
      return [{ job, endpoint, reply: message.reply, deliveries: deliveriesIn(message.reply) }];
  } catch {
    // No JSON.
  }
  return [];
}
