/** What deliveries cost on a machine: rows of `./run bench plan`, read back from where it keeps them. */
import { readFileSync } from "node:fs";
import { AdbindError } from "../../runtime/errors.js";
import type { StepCosts } from "./delivery.js";

/** Names of the rows; the bench writes them, and this reads them. */
export const costRows = {
  storeMs: "an event stored, PostgreSQL's processor time",
  applicationMs: "an event stored, the application's processor time",
  handOutMs: "a delivery, PostgreSQL's processor time",
  deliverMs: "a delivery, the deliverer's processor time",
  leaseMs: "work asked for once, PostgreSQL's processor time",
  leaseOwnMs: "work asked for once, the deliverer's processor time",
  wakeMs: "commit to arrival at an idle deliverer, but for what is computed",
  logBytes: "write-ahead log of an event, from its storing to its end",
  keptBytes: "kept of an event that was delivered, indexes included",
  waitingBytes: "kept of an event that waits, indexes included",
} as const;

export interface DeliveryCosts extends StepCosts {
  /** Processor milliseconds of the application, for storing an event. */
  readonly applicationMs: number;
  /** Bytes an event. */
  readonly logBytes: number;
  readonly keptBytes: number;
  readonly waitingBytes: number;
}

/** Where costs come from, in words. */
export interface MeasuredCosts {
  readonly costs: DeliveryCosts;
  readonly machine: string;
  readonly date: string;
}

interface Results {
  readonly plan?: {
    readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly date: string };
    readonly rows: readonly { readonly name: string; readonly value: number }[];
  };
}

const missing = (file: string, what: string): AdbindError =>
  new AdbindError("usage", what, {
    where: file,
    remedy:
      "measure on the machine at hand with `./run bench plan` in adbind's repository, and give its bench/results.json as --costs",
  });

function parsed(file: string): Results {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw missing(file, "the costs of deliveries cannot be read");
  }
  try {
    return JSON.parse(text) as Results;
  } catch {
    throw missing(file, "that is no JSON");
  }
}

/** @throws AdbindError `usage` where the file has no costs of deliveries */
export function readCosts(file: string): MeasuredCosts {
  const { plan } = parsed(file);
  if (plan === undefined) throw missing(file, "the file has no costs of deliveries");
  const values = new Map(plan.rows.map(({ name, value }) => [name, value]));
  const costs = Object.entries(costRows).map(([key, name]) => {
    const value = values.get(name);
    if (typeof value !== "number" || !(value >= 0)) throw missing(file, `the file does not say: ${name}`);
    return [key, value] as const;
  });
  const { cpu, cores, node, date } = plan.machine;
  return {
    costs: Object.fromEntries(costs) as unknown as DeliveryCosts,
    machine: `${cores} x ${cpu}, node ${node}`,
    date,
  };
}
