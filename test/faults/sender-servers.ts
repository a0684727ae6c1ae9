/** Servers that hand events out are killed under load: one of three, then two, in turn, each time another. */
import type { TestNats } from "../support/nats.js";
import type { Receivers } from "./sender-receivers.js";

/** From a kill until deliveries went on, by this process's clock in milliseconds. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly servers: number;
}

/** How long they are dead, in milliseconds. */
const DEAD_MS = { 1: 4_000, 2: 6_000 } as const;
/** Between two outages, in milliseconds: what they held up has time to come. */
const BETWEEN_MS = 12_000;
/** By when deliveries have to go on, in milliseconds. */
const ON_MS = 60_000;
const SERVERS = 3;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** From when on nothing held up deliveries until a moment: after the last outage before it, or from the kill on. */
export const wentOnAfter = (outages: readonly Outage[], killed: number, until: number): number =>
  outages
    .filter(({ from, to }) => from < until && to > killed)
    .reduce((last, { to }) => Math.max(last, Math.min(to, until)), killed);

/** Until the other kills are over; once each at least. */
export async function serversDying(nats: TestNats, receivers: Receivers, others: Promise<unknown>): Promise<Outage[]> {
  const outages: Outage[] = [];
  let over = false;
  others.finally(() => (over = true)).catch(() => undefined);
  for (let turn = 0; turn < 2 || !over; turn++) {
    await pause(BETWEEN_MS / 2);
    const servers = turn % 2 === 0 ? 1 : 2;
    const which = [turn % SERVERS, (turn + 1) % SERVERS].slice(0, servers);
    const from = performance.now();
    await Promise.all(which.map((one) => nats.kill(one)));
    await pause(DEAD_MS[servers]);
    await Promise.all(which.map((one) => nats.start(one)));
    const back = performance.now();
    const on = () => receivers.seen.find(({ at }) => at > back);
    while (on() === undefined && performance.now() - back < ON_MS) await pause(50);
    outages.push({ from, to: on()?.at ?? performance.now(), servers });
    await pause(BETWEEN_MS / 2);
  }
  return outages;
}
