/** Shares of money are whole numbers of a coin: there is no hundredth of a yen to pay. */

/**
 * Coins in one of a currency, a hundred at most: what has thousandths is counted in hundredths here.
 * @param currency ISO 4217; one that nobody knows has hundredths
 */
export function coinsIn(currency: string | undefined): number {
  if (currency === undefined || !/^[a-z]{3}$/i.test(currency)) return 100;
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return 10 ** Math.min(digits, 2);
}
