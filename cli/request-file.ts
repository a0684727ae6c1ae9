/** Requests as files: raw HTTP as a proxy logs it, or JSON. Bodies are bytes and stay so. */
import { AdbindError } from "../runtime/errors.js";
import type { SignableRequest } from "../runtime/signing/index.js";

type HeaderPairs = readonly (readonly [name: string, value: string])[];

const unreadable = (what: string, remedy: string): AdbindError => new AdbindError("file_unusable", what, { remedy });

/** Header lines; folded ones are refused, as RFC 9112 has it. */
export function parseHeaderLines(text: string): HeaderPairs {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const found = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
      if (found === null) throw unreadable(`Not a header line: ${line.slice(0, 60)}`, "give one Name: value a line");
      return [found[1] as string, found[2] as string] as const;
    });
}

const hostOf = (headers: HeaderPairs): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === "host")?.[1];

function parseRaw(bytes: Uint8Array, url: string | undefined): SignableRequest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = /\r?\n\r?\n/.exec(buffer.toString("latin1"));
  const headEnd = end?.index ?? buffer.length;
  const [line = "", ...rest] = buffer.subarray(0, headEnd).toString("latin1").split(/\r?\n/);
  const found = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: HTTP\/[0-9.]+)?$/.exec(line);
  if (found === null) throw unreadable("The request file has no request line", "start it with: POST /path HTTP/1.1");
  const headers = parseHeaderLines(rest.join("\n"));
  const target = found[2] as string;
  const host = hostOf(headers);
  const guessed = /^https?:/i.test(target) ? target : host === undefined ? undefined : `https://${host}${target}`;
  if (url === undefined && guessed === undefined)
    throw new AdbindError("usage", "The target is not known", { remedy: "give --url, or a Host line" });
  return {
    method: found[1] as string,
    url: url ?? (guessed as string),
    headers,
    body: buffer.subarray(headEnd + (end?.[0].length ?? 0)),
  };
}

function parseJson(text: string, url: string | undefined): SignableRequest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable("The request file is neither HTTP nor JSON", "see adbind webhook verify --help");
  }
  const outer = value as { request?: object };
  const request = (outer.request ?? outer) as Partial<Record<"method" | "url" | "body", string>> & {
    headers?: Record<string, string | string[]>;
  };
  const target = url ?? request.url;
  if (target === undefined || typeof request.headers !== "object") {
    throw unreadable("The request lacks url or headers", 'expected {"method", "url", "headers", "body"}');
  }
  return {
    method: request.method ?? "POST",
    url: target,
    headers: request.headers,
    body: new TextEncoder().encode(request.body ?? ""),
  };
}

/**
 * Reads a request file.
 * @param url the public URL it was sent to, when the file does not say or says it behind a proxy's name
 * @throws AdbindError `file_unusable`, or `usage` where a --url is missing
 */
export function parseRequestFile(bytes: Uint8Array, url?: string): SignableRequest {
  return bytes[0] === "{".charCodeAt(0) ? parseJson(new TextDecoder().decode(bytes), url) : parseRaw(bytes, url);
}
