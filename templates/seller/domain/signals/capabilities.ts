import type { JsonObject } from "adbind/contract";

/** Providers whose catalogues are resold here: those of the fixtures. */
export const capabilities: JsonObject = {
  signals: {
    data_provider_domains: ["meridiangeo.example", "shopgrid.example", "tridentauto.example"],
    features: { catalog_signals: true },
  },
};
