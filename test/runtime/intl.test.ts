/** What Intl makes is dear, in time and memory: it is made once of what callers name, however they write it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { coinsIn } from "../../runtime/behaviours/frame/currency.js";
import { isTimeZone } from "../../runtime/calendar.js";

/** Counts what is made while something runs. */
function made(kind: "NumberFormat" | "DateTimeFormat", run: () => void): number {
  const own = Intl[kind];
  let count = 0;
  const counting = new Proxy(own, {
    construct(target, args, as) {
      count += 1;
      return Reflect.construct(target, args, as);
    },
  });
  Object.defineProperty(globalThis.Intl, kind, { value: counting, configurable: true, writable: true });
  try {
    run();
  } finally {
    Object.defineProperty(globalThis.Intl, kind, { value: own, configurable: true, writable: true });
  }
  return count;
}

test("a currency has the coins of ISO 4217, whatever people use of them, and Intl is not asked", () => {
  const expected = {
    ...{ USD: 100, usd: 100, JPY: 1, KRW: 1, XOF: 1, KWD: 1_000, IQD: 1_000, CLF: 10_000 },
    ...{ HUF: 100, IDR: 100, COP: 100, PKR: 100, ALL: 100, LBP: 100, MGA: 100, ZZZ: 100, credits: 100, "": 100 },
  };
  let found: object = {};
  const count = made("NumberFormat", () => {
    found = Object.fromEntries(Object.keys(expected).map((currency) => [currency, coinsIn(currency)]));
  });
  assert.equal([found, count], [expected, 0]);
});

test("a time zone that is written in many ways is kept once", () => {
  const count = made("DateTimeFormat", () => {
    for (const zone of ["Europe/Oslo", "europe/oslo", "EUROPE/OSLO", "Europe/OSLO"]) assert.ok(isTimeZone(zone));
    assert.not(isTimeZone("Europe/Nowhere"));
  });
  assert.is(count, 2, "of the one that is none too");
});

test.run();
