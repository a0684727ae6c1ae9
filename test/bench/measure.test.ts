import { test } from "uvu";
import * as assert from "uvu/assert";
import { measure, measureOnce, median } from "../../bench/support/measure.js";

test("the median is the middle, whatever the order", () => {
  assert.is(median([9, 1, 5]), 5);
  assert.is(median([4, 1, 2, 9]), 3);
  assert.is(median([7]), 7);
  assert.ok(Number.isNaN(median([])));
});

test("a process's own memory is measured, not that of the process that started it", async () => {
  // Held until after the children ran: what they inherit from here must not count.
  const ballast = Buffer.alloc(256e6, 1);
  const { small, large } = await measure(
    { small: { args: ["-e", "0"] }, large: { args: ["-e", "Buffer.alloc(128e6, 1)"] } },
    1,
  );
  assert.ok(small.peakBytes < ballast.length, `${small.peakBytes} bytes for a process that does nothing`);
  const difference = large.peakBytes - small.peakBytes;
  assert.ok(difference > 100e6 && difference < 200e6, `${difference} bytes for 128 MB`);
});

test("a process that fails is an error with what it printed, unless its code is expected", async () => {
  const failing = { args: ["-e", "console.error('out of ink'); process.exit(3)"] };
  try {
    await measureOnce(failing);
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /ended with 3:\nout of ink/);
  }
  try {
    await measureOnce({ ...failing, accept: [3], prints: /toner/ });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /out of ink/);
  }
  const { ms, cpuMs } = await measureOnce({ ...failing, accept: [3], prints: /ink/ });
  assert.ok(ms > 0 && cpuMs > 0);
});

test("commands take turns, and what must happen before each happens", async () => {
  const order: string[] = [];
  const command = (name: string) => ({ args: ["-e", "0"], before: () => void order.push(name) });
  await measure({ a: command("a"), b: command("b") }, 2);
  assert.equal(order, ["a", "b", "a", "b"]);
});

test.run();
