/** What becomes of the conversions that buyers send. They are kept and counted once; this is for whoever attributes them. */
import type { EventsPort } from "adbind/behaviours";

/** Your attribution's API; without one nobody is told. */
const attribution = process.env.EVENTS_URL;

export const events: EventsPort = {
  ...(attribution !== undefined && { upstream: true }),
  // At least once; each event has an id of its own.
  async take(taken, { sourceId }) {
    if (attribution === undefined) return;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ source: sourceId, events: taken });
    const answer = await fetch(`${attribution}/events`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`the events were answered ${answer.status}`);
  },
};
