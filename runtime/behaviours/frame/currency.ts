/** Money: sums are as exact as what they are made of, and shares are whole numbers of a coin, since no hundredth of a yen is paid. */

/** What was asked of Intl, which takes half a millisecond each time: an answer about many packages asks for each of their days. */
const known = new Map<string, number>();

/**
 * Coins in one of a currency: a hundred as a rule, one of a yen, a thousand of a dinar.
 * @param currency ISO 4217; one that nobody knows has hundredths
 */
export function coinsIn(currency: string | undefined): number {
  if (currency === undefined || !/^[a-z]{3}$/i.test(currency)) return 100;
  // No more than there are words of three letters.
  const code = currency.toUpperCase();
  const before = known.get(code);
  if (before !== undefined) return before;
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency: code,
  }).resolvedOptions();
  const coins = 10 ** digits;
  known.set(code, coins);
  return coins;
}

/** An amount to the coin of its currency. */
export function inCoins(amount: number, currency: string | undefined): number {
  const coins = coinsIn(currency);
  return Math.round(amount * coins) / coins;
}

/** How fine a number holds a sum: below a size to so many parts of one; above the last nothing is rounded. */
const fineness: readonly (readonly [below: number, parts: number])[] = [
  [1e9, 1_000_000],
  [1e12, 1_000],
  [9e13, 100],
];

/**
 * A sum of money without the dust of binary fractions: of 900.9 less 600.6, all of 300.3 is left. It is not rounded to coins: of
 * what is delivered for less than one, many make some.
 */
export function summed(amounts: readonly number[]): number {
  const sum = amounts.reduce((all, one) => all + one, 0);
  const size = Math.abs(sum);
  const parts = fineness.find(([below]) => size < below)?.[1];
  return parts === undefined ? sum : Math.round(sum * parts) / parts;
}
