/**
 * A lookup for who asks for many names at once. The system's own holds one of four threads that the whole process shares for as
 * long as a name server is silent, and cannot be stopped: a thousand names that do not resolve hold everything else up.
 */
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";

/** An address that a name resolved to. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a name. Rejects where it has none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Whom it asks, and how patiently. */
export interface NameLookupOptions {
  /** Addresses of name servers, with a port where it is not 53. Default the system's, looked up again every half minute. */
  readonly servers?: readonly string[];
  /**
   * How long a name server may be silent before it is asked again, in milliseconds, at most: one that has answered sooner until
   * then is asked again sooner, and each time waited for twice as long. Default 2,000.
   */
  readonly timeoutMs?: number;
  /** How often each name server is asked. Default 4. */
  readonly tries?: number;
  /** Names that stand in it are not asked for; read again every half minute. Default the system's. */
  readonly hostsFile?: string;
}

/** Asks name servers for names, any number at once. */
export interface NameLookup {
  readonly lookup: Lookup;
  /** Gives up on every name that is being asked for; from now on there is no answer. */
  close(): void;
}

const TIMEOUT_MS = 2_000;
const TRIES = 4;
/** A machine may get other name servers, and other names of its own, while a process runs. In milliseconds. */
const SETTINGS_MS = 30_000;

const systemHosts = (): string =>
  process.platform === "win32"
    ? path.join(process.env.SystemRoot ?? "C:\\Windows", "System32\\drivers\\etc\\hosts")
    : "/etc/hosts";

function hostsIn(file: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // A system need not have one.
    return hosts;
  }
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  return hosts;
}

/** RFC 6761, 6.3: of this machine, whoever is asked. */
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** A server that says there is nothing, and not one that says nothing. */
const isNothing = (error: unknown): boolean => codeOf(error) === "ENOTFOUND" || codeOf(error) === "ENODATA";

/** Once one family has addresses the other has so long to answer, in milliseconds: as RFC 8305, 3 has it, with more patience. */
const OTHER_FAMILY_MS = 250;

/** Both families: what one of them has counts, though nothing is heard of the other. */
async function ask(resolver: Resolver, name: string): Promise<ResolvedAddress[]> {
  const answers: [four: readonly string[], six: readonly string[]] = [[], []];
  const faults: Error[] = [];
  await new Promise<void>((resolve) => {
    const hear = async (family: 0 | 1, asked: Promise<readonly string[]>): Promise<void> => {
      try {
        answers[family] = await asked;
        if (answers[family].length > 0) setTimeout(resolve, OTHER_FAMILY_MS).unref();
      } catch (error) {
        faults.push(error as Error);
      }
    };
    Promise.all([hear(0, resolver.resolve4(name)), hear(1, resolver.resolve6(name))]).then(() => resolve(), resolve);
  });
  const found = answers.flat();
  // That a name does not exist is known only where both say so.
  const fault = faults.find((one) => !isNothing(one)) ?? faults[0];
  if (found.length === 0 && fault !== undefined) throw fault;
  return found.map((address) => ({ address, family: isIP(address) }));
}

/** Names that are asked for at a time: of more, answers are lost, for a socket holds only so many. */
const AT_ONCE = 48;
/** A name that is not answered for so long leaves its place to another, in milliseconds: its answer may never come. */
const PLACE_MS = 50;

/** Has those who ask for many names at once take turns, of which one is over when it is answered, or has taken long. */
function turnTaking(): (ask: () => Promise<ResolvedAddress[]>) => Promise<ResolvedAddress[]> {
  const waiting: (() => void)[] = [];
  let places = AT_ONCE;
  const over = (): void => {
    const next = waiting.shift();
    if (next === undefined) places += 1;
    else next();
  };
  return async (ask) => {
    if (places > 0) places -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    const asked = ask();
    await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, PLACE_MS).unref())]).finally(over);
    return asked;
  };
}

/** What the system, or who opened it, says of names. */
interface Settings {
  readonly resolver: Resolver;
  readonly hosts: ReadonlyMap<string, readonly ResolvedAddress[]>;
  /** As `performance.now()` says it. */
  readonly since: number;
}

/**
 * Opens a lookup that asks the name servers itself; names of the hosts file first. It knows no search domains, and none of
 * what else a system may be set up to ask, such as names of the local network: it is for names of the public internet.
 * What it answers is judged by the guarded fetch as any other lookup's.
 */
export function openNameLookup(options: NameLookupOptions = {}): NameLookup {
  const { servers, timeoutMs = TIMEOUT_MS, tries = TRIES, hostsFile = systemHosts() } = options;
  const settings = (): Settings => {
    const resolver = new Resolver({ timeout: timeoutMs, maxTimeout: timeoutMs, tries });
    if (servers !== undefined) resolver.setServers(servers);
    return { resolver, hosts: hostsIn(hostsFile), since: performance.now() };
  };
  /** Names may still be asked for by what was set before. */
  const set = [settings()];
  const current = (): Settings => {
    if (performance.now() - set[0]!.since >= SETTINGS_MS) set.splice(0, 2, settings(), set[0]!);
    return set[0]!;
  };
  const inTurn = turnTaking();
  let closed = false;
  return {
    async lookup(hostname) {
      const name = hostname.toLowerCase().replace(/\.$/, "");
      const { resolver, hosts } = current();
      const own = hosts.get(name) ?? (/(?:^|\.)localhost$/.test(name) ? LOOPBACK : undefined);
      if (own !== undefined) return own;
      return inTurn(async () => {
        if (closed) throw Object.assign(new Error(`${hostname} is not asked for any more`), { code: "ECANCELLED" });
        return ask(resolver, name);
      });
    },
    close() {
      closed = true;
      for (const { resolver } of set) resolver.cancel();
    },
  };
}

let shared: NameLookup | undefined;

/** One for all that have none of their own: it is opened with the first name, and never closed. */
export const sharedLookup: Lookup = (hostname) => {
  shared ??= openNameLookup();
  return shared.lookup(hostname);
};
