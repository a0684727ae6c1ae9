/** Ways an agent is spoken to over. A further one is a name here, a folder in runtime/transport and a row in its tables. */
export const transportNames = ["mcp", "a2a"] as const;

/** A way that a call travels. */
export type TransportName = (typeof transportNames)[number];
