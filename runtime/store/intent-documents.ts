/** Collection of what a buyer intends: its owners are the agents it calls, whatever else its database is used for. */
export const INTENTS = "buyer_intent";
