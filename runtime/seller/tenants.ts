/**
 * Several sellers in one process, each at hosts of its own, on a database of its own. A tenant is chosen by the host that a
 * request names and by nothing else; what it is given, answers and costs stays with it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AdbindError } from "../errors.js";
import type { MountedSeller } from "./mount.js";

/** What a tenant needs of its seller: `createSeller` and `openSeller` give it. */
export interface TenantSeller {
  mount(): Promise<MountedSeller>;
  close(): Promise<void>;
  storeIdentity(): Promise<string>;
}

/** One seller of several in a process, by the hosts it answers at. */
export interface Tenant {
  /** Hosts it answers at, as callers name them: `ads.example.com` at every port, `ads.example.com:8443` at that one. */
  readonly hosts: readonly string[];
  readonly seller: TenantSeller;
  /** Requests of it under way at a time; who comes beyond is told 503 and when to come again. Default 256. */
  readonly inFlight?: number;
}

/** Where the host of a request is read. */
export interface TenantsOptions {
  /** A proxy in front tells the host in `x-forwarded-host`, and takes away what callers send of it. Default false. */
  readonly forwardedHost?: boolean;
}

/** Several sellers behind one listener. */
export interface Tenants {
  /**
   * Begins to answer for a tenant. Where it cannot, nothing of it is kept, and its seller stays open.
   * @param name whose it is, for `remove`
   * @throws AdbindError `seller_option_invalid` for a host or a name that is taken, or a database that is another tenant's
   */
  add(name: string, tenant: Tenant): Promise<void>;
  /** Answers for it no more, waits for what is under way, and closes its seller. @returns false where there is none */
  remove(name: string): Promise<boolean>;
  /** Names, in the order they were added. */
  readonly names: readonly string[];
  /** For servers that speak fetch. */
  fetch(request: Request): Promise<Response>;
  /** `createServer(tenants.listener)`, of http or https. */
  readonly listener: (message: IncomingMessage, response: ServerResponse) => void;
  /** Closes every seller. */
  close(): Promise<void>;
}

interface Place {
  readonly tenant: Tenant;
  readonly mounted: MountedSeller;
  readonly store: string;
  underWay: number;
}

const IN_FLIGHT = 256;
const RETRY_SECONDS = 1;
/** Of a name in DNS with its port (RFC 1035, section 2.3.4). */
const MAX_HOST_CHARACTERS = 260;

const bad = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("seller_option_invalid", what, { where, remedy });

/** A host as it is compared, with its port if it names one: in lower case, in ASCII, without the dot of the root; else undefined. */
function hostOf(given: string | null | undefined): string | undefined {
  if (given == null || given.length > MAX_HOST_CHARACTERS || /[\s/?#@\\,]/.test(given)) return undefined;
  const url = URL.canParse(`https://${given}`) ? new URL(`https://${given}`) : undefined;
  const port = /:(\d+)$/.exec(given)?.[1];
  const name = url?.hostname.replace(/\.$/, "");
  return name === "" || port === undefined ? name || undefined : `${name}:${Number(port)}`;
}

/** What a request is to: its target's own host stands before the field (RFC 9112, section 3.2.2). */
function askedHost({ url = "", headers }: IncomingMessage, forwarded: boolean): string | undefined {
  const told = headers["x-forwarded-host"];
  if (forwarded && told !== undefined) return hostOf(String(told));
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(url);
  return hostOf(absolute?.[1] ?? headers.host ?? (headers[":authority"] as string | undefined));
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const refusal = (status: number, error: string, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ error }),
});

/** Nobody's: the connection is good for others (RFC 9110, section 15.5.20). */
const MISDIRECTED = refusal(421, "host_unknown");
const BUSY = refusal(503, "tenant_busy", { "retry-after": `${RETRY_SECONDS}` });

/** An answer whose end is told, read to it or given up. */
function endTold(answer: Response, ended: () => void): Response {
  const reader = answer.body?.getReader();
  if (reader === undefined) {
    ended();
    return answer;
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
  return new Response(body, answer);
}

class HostedTenants implements Tenants {
  readonly #places = new Map<string, Place>();
  readonly #byHost = new Map<string, Place>();
  /** Hosts, names and databases of those that are being added. */
  readonly #taken = new Set<string>();
  readonly #forwarded: boolean;

  constructor({ forwardedHost = false }: TenantsOptions) {
    this.#forwarded = forwardedHost;
  }

  get names(): readonly string[] {
    return [...this.#places.keys()];
  }

  async add(name: string, tenant: Tenant): Promise<void> {
    const { hosts, seller, inFlight = IN_FLIGHT } = tenant;
    if (!Number.isSafeInteger(inFlight) || inFlight < 1)
      throw bad("inFlight", `${inFlight} requests at a time are none`, "give a positive whole number");
    const known = hosts.map((given) => {
      const host = hostOf(given);
      if (host === undefined) throw bad("hosts", `${given} is no host`, "give names such as ads.example.com");
      return host;
    });
    if (known.length === 0) throw bad("hosts", `${name} is to answer at no host`, "give at least one");
    if (this.#places.has(name)) throw bad("name", `there is a tenant ${name}`, "remove it first, or give another name");
    const taken = known.find((host) => this.#byHost.has(host));
    if (taken !== undefined)
      throw bad("hosts", `${taken} is another tenant's`, "a host has one tenant: remove that one first");
    await this.#reserving([`name ${name}`, ...known.map((host) => `host ${host}`)], async () => {
      const store = await seller.storeIdentity();
      const other = [...this.#places].find(([, place]) => place.store === store)?.[0];
      const remedy = "give each tenant a database, a SQLite file or a PostgreSQL schema of its own";
      if (other !== undefined) throw bad("seller", `${name} is on the database of ${other}`, remedy);
      await this.#reserving([`store ${store}`], async () => {
        const place = { tenant: { ...tenant, inFlight }, mounted: await seller.mount(), store, underWay: 0 };
        this.#places.set(name, place);
        for (const host of known) this.#byHost.set(host, place);
      });
    });
  }

  /** Nobody else takes the same meanwhile. */
  async #reserving(what: readonly string[], work: () => Promise<void>): Promise<void> {
    const met = what.find((one) => this.#taken.has(one));
    if (met !== undefined)
      throw bad("hosts", `another tenant with this ${met} is being added`, "add one after the other");
    for (const one of what) this.#taken.add(one);
    try {
      await work();
    } finally {
      for (const one of what) this.#taken.delete(one);
    }
  }

  async remove(name: string): Promise<boolean> {
    const place = this.#places.get(name);
    if (place === undefined) return false;
    this.#places.delete(name);
    for (const [host, one] of this.#byHost) if (one === place) this.#byHost.delete(host);
    await place.tenant.seller.close();
    return true;
  }

  readonly listener = (message: IncomingMessage, response: ServerResponse): void => {
    const place = this.#enter(askedHost(message, this.#forwarded));
    if ("status" in place) {
      message.resume();
      response.writeHead(place.status, place.headers).end(place.body);
      return;
    }
    response.once("close", () => this.#leave(place));
    place.mounted.listener(message, response);
  };

  async fetch(request: Request): Promise<Response> {
    const forwarded = this.#forwarded ? request.headers.get("x-forwarded-host") : null;
    const place = this.#enter(hostOf(forwarded ?? new URL(request.url).host));
    if ("status" in place) return new Response(place.body, { status: place.status, headers: place.headers });
    let left = false;
    const leave = (): void => {
      if (!left) this.#leave(place);
      left = true;
    };
    try {
      return endTold(await place.mounted.fetch(request), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #enter(host = ""): Place | Refusal {
    const place = this.#byHost.get(host) ?? this.#byHost.get(host.replace(/:\d+$/, ""));
    if (place === undefined) return MISDIRECTED;
    if (place.underWay >= place.tenant.inFlight!) return BUSY;
    place.underWay += 1;
    return place;
  }

  #leave(place: Place): void {
    place.underWay -= 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.names.map((name) => this.remove(name)));
  }
}

/** Answers for several sellers in one process; tenants come and go while it runs. */
export const createTenants = (options: TenantsOptions = {}): Tenants => new HostedTenants(options);
