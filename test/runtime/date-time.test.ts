/** The quick look at date-times gives the format's own verdicts. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { quickDateTime } from "../../runtime/validate/date-time.js";

const { fullFormats } = (await import("ajv-formats/dist/formats.js")) as unknown as {
  fullFormats: { "date-time": { validate: (text: string) => boolean } };
};
const whole = fullFormats["date-time"].validate;
const never = quickDateTime(() => false);

const two = fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, "0"));
const made = fc
  .tuple(fc.integer({ min: 0, max: 9999 }), two, two, fc.constantFrom("T", "t", " ", "_"), two, two, two)
  .chain(([year, month, day, mark, hour, minute, second]) =>
    fc
      .tuple(fc.constantFrom("", ".", ".5", ".123456789"), fc.constantFrom("Z", "z", "", "+01:00", "-2359", "Zz"))
      .map(
        ([part, zone]) =>
          `${String(year).padStart(4, "0")}-${month}-${day}${mark}${hour}:${minute}:${second}${part}${zone}`,
      ),
  );

test("what is taken at a look is taken by the format; and the usual form is", () => {
  fc.assert(
    fc.property(fc.oneof(made, fc.string()), (text) => {
      if (never(text)) assert.ok(whole(text), text);
      assert.is(quickDateTime(whole)(text), whole(text), text);
    }),
    { numRuns: 2_000 },
  );
  for (const text of ["2026-04-18T14:00:00Z", "2026-12-31T23:59:59.999Z".replace("31", "28")])
    assert.ok(never(text), text);
  for (const text of ["2026-02-30T00:00:00Z", "2026-04-18T24:00:00Z", "2026-04-18T14:00:00", "2026-04-18"])
    assert.not.ok(quickDateTime(whole)(text), text);
});

test.run();
