/** What guarded requests may reach and how long they may take. Checked once, at construction. */
import type { Socket } from "node:net";
import { AdbindError } from "../errors.js";
import { isTimerMs } from "../timers.js";
import { type Lookup, type ResolvedAddress, sharedLookup } from "./name-lookup.js";

/** Milliseconds. */
export interface Timeouts {
  /** DNS, TCP and TLS together. */
  readonly connectMs: number;
  /** Silence: until the headers, then between two pieces of the body. */
  readonly readMs: number;
  /** From the call to the last byte, redirects included. */
  readonly totalMs: number;
}

/**
 * docs/protocol/signing.md#outbound-requests, 5. A peer that trickles bytes is stopped by the total, one that hangs by the
 * read limit.
 */
export const defaultTimeouts: Timeouts = { connectMs: 10_000, readMs: 10_000, totalMs: 30_000 };

/** Key sets, brand files and pins: docs/protocol/signing.md#key-sets. A verification waits for these. */
export const discoveryTimeouts: Timeouts = { connectMs: 5_000, readMs: 5_000, totalMs: 10_000 };

/** 5 MB, docs/protocol/signing.md#outbound-requests, 5: what a request reads at most unless it says otherwise. */
export const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;

/** Where to connect: addresses that were judged, and none besides. */
export interface DialOptions {
  /** Name, or a loopback address where those are allowed. For messages: `addresses` is where to connect. */
  readonly host: string;
  readonly port: number;
  /** Checked; connect to one of these and nothing else. */
  readonly addresses: readonly ResolvedAddress[];
}

/** What outbound requests may reach, and how long they may take, in milliseconds. */
export interface NetPolicyOptions {
  /** Plain http too. For tests and demos. */
  readonly allowHttp?: boolean;
  /** 127.0.0.0/8, ::1 and localhost too. For tests and demos. */
  readonly allowLoopback?: boolean;
  /** Ports that may be dialled; default any. `[443, 8443]` is a usual set. */
  readonly ports?: "any" | readonly number[];
  readonly timeouts?: Partial<Timeouts>;
  /**
   * Name resolution; by default the system's name servers are asked, after its hosts file: what else it may be set up to ask
   * (search domains, the local network) is found only by `(name) => dns.promises.lookup(name, { all: true })`, of which four at
   * a time wait in the whole process.
   */
  readonly lookup?: Lookup;
  /** Opens the TCP connection; its peer address is checked again afterwards, so a wrong one sends no byte. */
  readonly dial?: (options: DialOptions) => Socket;
  /** Certificate authorities beside the system's own set, PEM. */
  readonly ca?: string | readonly string[];
}

export interface NetPolicy {
  readonly allowHttp: boolean;
  readonly allowLoopback: boolean;
  readonly ports: "any" | ReadonlySet<number>;
  readonly timeouts: Timeouts;
  readonly lookup: Lookup;
  readonly dial: ((options: DialOptions) => Socket) | undefined;
  readonly ca: readonly string[] | undefined;
}

const bad = (where: string, remedy: string): AdbindError =>
  new AdbindError("net_option_invalid", "An option for outbound requests is off", { where, remedy });

/** @throws AdbindError `net_option_invalid` when a limit is not a positive number of milliseconds */
export function checkedTimeouts(base: Timeouts, given: Partial<Timeouts> = {}): Timeouts {
  const timeouts = { ...base, ...given };
  for (const name of Object.keys(timeouts) as (keyof Timeouts)[]) {
    const value = timeouts[name];
    if (!isTimerMs(value)) {
      throw bad(`timeouts.${name}`, "give milliseconds, above 0 and below 2^31");
    }
  }
  return timeouts;
}

function checkedPorts(ports: "any" | readonly number[]): "any" | ReadonlySet<number> {
  if (ports === "any") return ports;
  if (ports.length === 0 || ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65535)) {
    throw bad("ports", 'give "any" or a list of ports between 1 and 65535');
  }
  return new Set(ports);
}

/** @throws AdbindError `net_option_invalid` when an option cannot be used */
export function checkedPolicy(options: NetPolicyOptions): NetPolicy {
  return {
    allowHttp: options.allowHttp ?? false,
    allowLoopback: options.allowLoopback ?? false,
    ports: checkedPorts(options.ports ?? "any"),
    timeouts: checkedTimeouts(defaultTimeouts, options.timeouts),
    lookup: options.lookup ?? sharedLookup,
    dial: options.dial,
    ca: options.ca === undefined ? undefined : [options.ca].flat(),
  };
}
