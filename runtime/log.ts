/** Where a part tells what happened: the port for an application's own logger, and the plain one that is there without. */
import { writeSync } from "node:fs";
import { hostname } from "node:os";

/** One line: what it is about, and a sentence. */
export type LogLine = (about: object, message: string) => void;

/** A logger, as adbind uses one: pino fits, and the console, and what fastify has as `app.log`. */
export interface Logger {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** Levels and the numbers they have in a line, which are pino's: what reads its lines reads these. */
export const logLevels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Infinity } as const;

/** Names a level, `trace` to `fatal`; `silent` lets nothing through. */
export type LogLevel = keyof typeof logLevels;

/** Whether a text names one. */
export const isLogLevel = (text: string): text is LogLevel => Object.hasOwn(logLevels, text);

export interface JsonLogOptions {
  /** Of the part that tells, in each line. */
  readonly name?: string;
  /** The lowest level that is written. Default `info`. */
  readonly level?: LogLevel;
  /** A file descriptor, 1 by default; or what takes each line, its end included. */
  readonly to?: number | ((line: string) => void);
}

/** A logger of JSON lines, in pino's form. */
export function jsonLog({ name, level = "info", to = 1 }: JsonLogOptions = {}): Logger {
  const always = { pid: process.pid, hostname: hostname(), ...(name !== undefined && { name }) };
  const write = typeof to === "function" ? to : (line: string) => written(to, line);
  const at = (one: LogLevel): LogLine => {
    if (logLevels[one] < logLevels[level]) return () => undefined;
    return (about, message) => {
      const line = { level: logLevels[one], time: Date.now(), ...always, ...about, msg: message };
      write(`${textOf(line)}\n`);
    };
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** What cannot be written to a log has nowhere else to be told: a full pipe or a closed one is no reason to fail a request. */
function written(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch {
    // The line is lost.
  }
}

/** Errors have their fields where JSON does not look. */
const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { message, stack, cause } = value;
  return { ...value, type: value.name, message, stack, ...(cause !== undefined && { cause }) };
};

function textOf(line: object): string {
  try {
    return JSON.stringify(line, plain);
  } catch (error) {
    // A circle, or a toJSON that throws: what is sure of the line.
    const { level, time, msg } = line as { level: unknown; time: unknown; msg: unknown };
    return JSON.stringify({ level, time, msg, unwritable: (error as Error).message });
  }
}
