/** `adbind webhook send --fault`: what a hostile or broken sender does, and whether the receiver answers as it should. */
import { AdbindError } from "../runtime/errors.js";
import {
  type FaultContext,
  type FaultName,
  faultAnswered,
  faultNames,
  isFaultName,
  type TestAnswer,
  testFaults,
} from "../runtime/testing/index.js";
import { willClose } from "./closing-line.js";

/** What is sent of a request. */
export interface Sendable {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface FaultGiven {
  readonly url: string;
  /** The event's bytes, strict JSON of an object. */
  readonly body: Uint8Array;
  readonly key: FaultContext["key"];
  readonly exchange: (request: Sendable) => Promise<TestAnswer>;
}

/** For `--help`. */
export const faultHelp = (): string => {
  const width = Math.max(...faultNames.map((name) => name.length)) + 2;
  const lines = faultNames.map((name) => `  ${name.padEnd(width)}${testFaults[name].what}`);
  return `\nFaults:\n  ${"all".padEnd(width)}each of them, one after the other\n${lines.join("\n")}\n`;
};

/**
 * The faults that a name stands for.
 * @throws AdbindError `usage`
 */
export function faultsNamed(name: string): readonly FaultName[] {
  if (name === "all") return faultNames;
  if (isFaultName(name)) return [name];
  throw new AdbindError("usage", "There is no such fault", {
    where: name,
    remedy: `give all, or one of ${faultNames.join(", ")}`,
  });
}

const eventIn = (body: Uint8Array): Record<string, unknown> => {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof event === "object" && event !== null && !Array.isArray(event)) return event as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new AdbindError("usage", "Faults are made of an event", {
    where: "--body",
    remedy: "give a body that is a JSON object",
  });
};

function wrongWith(name: FaultName, answers: readonly TestAnswer[]): string | undefined {
  const refused = answers.slice(0, -1).find(({ status }) => status < 200 || status > 299);
  if (refused !== undefined) return `a good request was answered ${refused.status} before it`;
  const { status, body } = answers.at(-1)!;
  return faultAnswered(name, status, body);
}

/** Sends each fault and prints how it was answered; exit 1 when a receiver of the profile would have answered otherwise. */
export async function sendFaults(faults: readonly FaultName[], given: FaultGiven): Promise<void> {
  const { url, key, exchange } = given;
  const event = eventIn(given.body);
  const close = willClose("faults");
  let failed = 0;
  for (const name of faults) {
    // Each is an event of its own: what is believed by mistake must not make the next one a duplicate.
    const own = { ...event, idempotency_key: crypto.randomUUID() };
    const answers: TestAnswer[] = [];
    for (const request of testFaults[name].make({ url, key, event: own })) answers.push(await exchange(request));
    const wrong = wrongWith(name, answers);
    if (wrong !== undefined) failed += 1;
    console.log(`${wrong === undefined ? "ok  " : "FAIL"} ${name}: ${wrong ?? `HTTP ${answers.at(-1)!.status}`}`);
  }
  close({ passed: faults.length - failed, failed });
}
