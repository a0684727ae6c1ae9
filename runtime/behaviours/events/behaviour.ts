import type { Behaviour } from "../frame/behaviour.js";
import { logEvents } from "./log.js";
import { syncEventSources } from "./sources.js";

/** Conversions that buyers send. */
export const eventsBehaviour: Behaviour = {
  area: "events",
  needs: ["accounts"],
  tools: { log_event: logEvents, sync_event_sources: syncEventSources },
  capabilities: () => ({
    media_buy: {
      features: { conversion_tracking: true },
      conversion_tracking: { supported_action_sources: ["website"], multi_source_event_dedup: false },
    },
  }),
};
