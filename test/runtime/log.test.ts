/** The logger that is there without one, and what else is taken for a logger. */
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { jsonLog, type Logger } from "../../runtime/log.js";

const written = (work: (log: Logger) => void, level?: "warn"): Record<string, unknown>[] => {
  const lines: string[] = [];
  work(jsonLog({ name: "part", to: (line) => void lines.push(line), ...(level !== undefined && { level }) }));
  assert.ok(lines.every((line) => line.endsWith("\n")));
  return lines.map((line) => JSON.parse(line));
};

test("a line has the fields of pino's, and what it is about", () => {
  const [ours] = written((log) => log.warn({ code: "x", level: "mine" }, "it happened"));
  const theirs: string[] = [];
  pino({ name: "part" }, { write: (line: string) => void theirs.push(line) }).warn({ code: "x" }, "it happened");
  const { time, ...rest } = JSON.parse(theirs[0]!);
  const { time: at, ...own } = ours!;
  assert.ok(typeof at === "number" && Math.abs(Number(time) - at) < 10_000);
  assert.equal({ ...own, level: 40 }, rest);
});

test("below its level nothing is written", () => {
  const lines = written((log) => {
    log.info({}, "no");
    log.warn({}, "yes");
    log.error({}, "yes");
  }, "warn");
  assert.equal(
    lines.map(({ msg }) => msg),
    ["yes", "yes"],
  );
});

test("an error is told with its stack, its code and its cause", () => {
  const cause = new Error("below");
  const [line] = written((log) =>
    log.error({ err: Object.assign(new Error("above", { cause }), { code: "E1" }) }, "m"),
  );
  const err = line!.err as Record<string, unknown>;
  assert.equal([err.type, err.message, err.code], ["Error", "above", "E1"]);
  assert.match(String(err.stack), "log.test");
  assert.is((err.cause as Record<string, unknown>).message, "below");
});

test("what JSON cannot say is no reason to fail", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const lines = written((log) => {
    log.warn({ big: 1n }, "a");
    log.warn({ circle }, "b");
  });
  assert.is(lines[0]!.big, "1");
  assert.is(lines[1]!.msg, "b");
});

test("pino and the console are loggers", () => {
  const all: Logger[] = [pino({ level: "silent" }), console];
  assert.is(all.length, 2);
});

test.run();
