/** Senders of a run on a split: enough that some move whenever a database comes or goes. */
const SENDERS = 16;

export const SPLIT_SENDERS: readonly string[] = Array.from(
  { length: SENDERS },
  (_, i) => `https://seller-${i}.example/agent`,
);

export const routeOf = (sender: string): string => `/hooks/${SPLIT_SENDERS.indexOf(sender)}`;
