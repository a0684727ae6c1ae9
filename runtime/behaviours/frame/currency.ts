/** Money: sums are as exact as what they are made of, and shares are whole numbers of a coin, since no hundredth of a yen is paid. */

/** Decimals of currencies that have not two, by ISO 4217. Intl knows other ones: what people use, where no forint has hundredths. */
const decimals: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

const coins: ReadonlyMap<string, number> = new Map(
  Object.entries(decimals).flatMap(([digits, codes]) =>
    codes.split(" ").map((code): [string, number] => [code, 10 ** Number(digits)]),
  ),
);

/**
 * Coins in one of a currency: a hundred as a rule, one of a yen, a thousand of a dinar.
 * @param currency ISO 4217; one that nobody knows has hundredths
 */
export const coinsIn = (currency: string | undefined): number => coins.get(currency?.toUpperCase() ?? "") ?? 100;

/** An amount to the coin of its currency. */
export function inCoins(amount: number, currency: string | undefined): number {
  const parts = coinsIn(currency);
  return Math.round(amount * parts) / parts;
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
