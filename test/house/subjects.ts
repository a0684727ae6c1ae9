/** Subjects of the issues that will mend what is listed as an exception. */
export const subjects = {
  events: "Every event of every release, valid to the strictest reader",
  types: "The official download in, faithful types out",
  database: "One database, and an outbox that lives in other people's applications",
  queue: "A delivery queue of our own, among strangers",
  receiver: "A receiver you can drop in, that never goes silent",
  transports: "Transports: what hosts, models and clients of today speak",
  buyer: "Two parties of different releases, and a buyer that knows when it is over",
  sellers: "A seller is a library with ports; his project is twelve files (sales first)",
  growth: "A registry people choose: pages, the doctor, growth",
  stranger: "A stranger can take it over",
  facts: "What a release says about itself: facts, signatures and keys for 3.0 to 3.3",
  registry: "A registry that cannot be lied to, and that the SDKs can move to",
} as const;
