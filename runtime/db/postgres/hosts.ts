/**
 * The servers that a URL names. One of several is the primary, another one after a fail-over: before each connection is made
 * they are asked at once who takes writes, and the first that says so is connected to.
 */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { postgres } from "./driver.js";

const { Client } = postgres.load();

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface NamedHosts {
  /** The URL with the first of them alone, and without what the driver does not know. */
  readonly url: string;
  /** Empty where any server will do: then there is one, or a proxy. */
  readonly hosts: readonly Host[];
  /** All of them as the URL has them, for messages. */
  readonly told: string;
}

const PORT = 5_432;
const SETTING = "target_session_attrs";
/** What libpq calls a server that takes writes. It also knows `any`, and some that a store cannot use. */
const WRITABLE = ["read-write", "primary"];

/** Scheme, login, hosts, and the rest of a URL that names several: no URL as JavaScript knows it. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;

/**
 * Reads the hosts of `postgres://user:password@a:5432,b:5432/database?target_session_attrs=read-write`. Several without the
 * setting are taken for `read-write`.
 * @throws AdbindError `store_option_invalid` for a setting under which nothing can be stored
 */
export function namedHosts(given: string): NamedHosts {
  const [, before = "", named = "", after = ""] = PARTS.exec(given) ?? [];
  const all = named.split(",");
  const first = before === "" ? given : `${before}${all[0]}${after}`;
  if (!URL.canParse(first, "postgres://localhost")) return { url: first, hosts: [], told: "" };
  const url = new URL(first, "postgres://localhost");
  const asked = url.searchParams.get(SETTING);
  if (asked !== null && asked !== "any" && !WRITABLE.includes(asked)) {
    const remedy = `give ${SETTING}=read-write, or leave it out`;
    throw new AdbindError("store_option_invalid", `a store is written to, which ${SETTING}=${asked} excludes`, {
      remedy,
    });
  }
  if (asked === null && all.length === 1) return { url: given, hosts: [], told: "" };
  url.searchParams.delete(SETTING);
  if (asked === "any" && all.length === 1) return { url: url.href, hosts: [], told: "" };
  const hosts = all.map((one) => hostOf(one));
  return { url: url.href, hosts, told: hosts.map(({ host, port }) => `${host}:${port}`).join(",") };
}

function hostOf(text: string): Host {
  // An address of version 6 has colons of its own, and brackets around it.
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(text) ?? [];
  return { host: decodeURIComponent(host).replace(/^\[|\]$/g, ""), port: Number(port ?? PORT) };
}

/** What is known is asked again after this long, in milliseconds: a burst of connections asks once. */
const KNOWN_MS = 500;
/** When a standby has answered, the others have this long, in milliseconds: one that is frozen would be waited for in vain. */
const SILENT_MS = 2_000;
const READ_ONLY = "25006";

const isReadOnly = (error: unknown): boolean => (error as { code?: unknown }).code === READ_ONLY;

/** Who of several servers takes writes. */
export class Primary {
  #asking: Promise<Host> | undefined;

  /** @param config of a connection, but for its host */
  constructor(
    readonly hosts: readonly Host[],
    readonly config: pg.ClientConfig,
  ) {}

  /** @throws what the last of them failed with, and 25006 where some answered and none takes writes */
  find(): Promise<Host> {
    if (this.#asking !== undefined) return this.#asking;
    const asking = this.#ask();
    this.#asking = asking;
    const forget = (): void => {
      if (this.#asking === asking) this.#asking = undefined;
    };
    asking.then(() => setTimeout(forget, KNOWN_MS).unref(), forget);
    return asking;
  }

  async #ask(): Promise<Host> {
    const faults: unknown[] = [];
    const silent = Promise.withResolvers<never>();
    let timer: NodeJS.Timeout | undefined;
    const probe = async (host: Host): Promise<Host> => {
      try {
        await this.#probe(host);
        return host;
      } catch (error) {
        faults.push(error);
        if (isReadOnly(error)) timer ??= setTimeout(() => silent.reject(error), SILENT_MS);
        throw error;
      }
    };
    try {
      return await Promise.race([Promise.any(this.hosts.map(probe)), silent.promise]);
    } catch {
      // A server that answers knows more than one that does not.
      throw faults.find(isReadOnly) ?? faults.at(-1);
    } finally {
      clearTimeout(timer);
    }
  }

  async #probe({ host, port }: Host): Promise<void> {
    const client = new Client(this.config);
    client.on("error", () => undefined);
    Object.assign(client, { host, port });
    try {
      await client.connect();
      await this.check(client);
    } finally {
      // Whoever waits for an answer waits for nothing else.
      client.end().catch(() => undefined);
    }
  }

  /** @throws what has code 25006 where the server of a connection takes no writes, whatever it said before */
  async check(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ transaction_read_only: string }>({
      text: "show transaction_read_only",
      ...{ query_timeout: this.config.connectionTimeoutMillis },
    });
    if (rows[0]?.transaction_read_only !== "on") return;
    this.#asking = undefined;
    const where = `${client.host}:${client.port}`;
    throw Object.assign(new Error(`${where} is a standby, or takes no writes`), { code: READ_ONLY });
  }
}
