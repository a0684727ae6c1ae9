/** Where the card of an agent is looked for. */

const CARD_PATH = "/.well-known/agent-card.json";

/**
 * Under the agent's own URL first, which is where the cards of several agents on one host are: the one at the origin is another's
 * then. A URL that names a card is its only place.
 */
export function cardPlaces(url: string): readonly [string, ...string[]] {
  const { origin, pathname } = new URL(url);
  if (/\/agent-card\.json$/.test(pathname)) return [url];
  const beside = pathname.replace(/\/+$/, "");
  const atOrigin = `${origin}${CARD_PATH}`;
  return beside === "" ? [atOrigin] : [`${origin}${beside}${CARD_PATH}`, atOrigin];
}
