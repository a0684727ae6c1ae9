/** What becomes of the conversions that buyers send. They are kept and counted once; this is for whoever attributes them. */
import { type EventsPort, tellPlatform } from "adbind/behaviours";

/** Your attribution's API; without one nobody is told. */
const attribution = process.env.EVENTS_URL;

export const events: EventsPort = {
  ...(attribution !== undefined && { upstream: true }),
  take: (taken, { sourceId }) => tellPlatform(attribution, "/events", { source: sourceId, events: taken }),
};
