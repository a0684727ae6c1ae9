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

test("a currency's coins are asked for once", () => {
  const coins: number[] = [];
  const count = made("NumberFormat", () => {
    for (const currency of ["USD", "JPY", "usd", "KWD", "JPY", "Usd"]) coins.push(coinsIn(currency));
  });
  assert.equal([coins, count], [[100, 1, 100, 1_000, 1, 100], 3]);
});

test("a time zone that is written in many ways is kept once", () => {
  const count = made("DateTimeFormat", () => {
    for (const zone of ["Europe/Oslo", "europe/oslo", "EUROPE/OSLO", "Europe/OSLO"]) assert.ok(isTimeZone(zone));
    assert.not(isTimeZone("Europe/Nowhere"));
  });
  assert.is(count, 2, "of the one that is none too");
});

test.run();
