/** A port that never answers keeps nobody waiting for ever: neither a caller, nor what is done for all others beside. */
import { AdbindError } from "../../errors.js";
import { isTimerMs } from "../../timers.js";
import type { Ports } from "../ports/index.js";
import type { CallsUpstream } from "../ports/upstream.js";

/** How long a call of a port may take, in milliseconds, where the port says nothing else: callers give up after a minute. */
const PATIENCE_MS = 30_000;

/** What the ad server is told has a signal of its own, and its outcome is asked for again. */
const told: ReadonlySet<string> = new Set(["book", "change", "pause", "resume", "cancel"]);

/** Nobody has waited for the answer to its end: what was asked for may have been done. */
export const isLate = (error: unknown): boolean =>
  (error instanceof AdbindError && error.code === "port_late") ||
  (error instanceof Error && error.name === "TimeoutError");

/** What comes after it is over is let go of, an error too. */
async function inTime<T>(name: string, answer: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const what = `the port ${name} had not answered after ${patienceMs} ms`;
    const remedy = "see what it waits for; patienceMs of the port says how long it may take";
    reject(new AdbindError("port_late", what, { where: name, remedy }));
  }, patienceMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A port inside a port, such as who measures creatives; all else that a port says of itself is plain data. */
const isPart = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  (Object.getPrototypeOf(value) !== Object.prototype || Object.values(value).some((one) => typeof one === "function"));

/**
 * An object of its own stands in for the port, so that one that is frozen may be watched too. What is not there is undefined, also
 * where a port says null, as most of what looks things up does; what a port throws before it promises anything, its promise throws.
 */
function patient<P extends object>(port: P, name: string, patienceMs: number): P {
  return new Proxy(Object.create(port) as P, {
    get(_, member) {
      const value: unknown = Reflect.get(port, member);
      const path = `${name}.${String(member)}`;
      if (isPart(value)) return patient(value, path, patienceMs);
      if (typeof value !== "function" || (name === "adServer" && told.has(String(member)))) return value;
      const asked = async (given: unknown[]): Promise<unknown> => Reflect.apply(value, port, given);
      return async (...given: unknown[]) => (await inTime(path, asked(given), patienceMs)) ?? undefined;
    },
  });
}

function patienceOf(name: string, { patienceMs = PATIENCE_MS }: CallsUpstream): number {
  if (isTimerMs(patienceMs)) return patienceMs;
  const remedy = "give milliseconds, more than none and at most 24 days";
  throw new AdbindError("seller_option_invalid", `${patienceMs} is no time that can be waited`, {
    ...{ where: `ports.${name}.patienceMs`, remedy },
  });
}

/**
 * The same ports; of what they are asked an answer is waited for as long as each says, and no longer.
 * @throws AdbindError `seller_option_invalid` for a `patienceMs` that is no time
 */
export const patientPorts = (ports: Ports): Ports =>
  Object.fromEntries(
    Object.entries(ports).map(([name, port]: [string, CallsUpstream]) => [
      name,
      patient(port, name, patienceOf(name, port)),
    ]),
  ) as unknown as Ports;
