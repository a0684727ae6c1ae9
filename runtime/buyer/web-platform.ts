/** A buyer in a browser or a worker: the platform's own fetch and crypto. Which addresses may be reached is its sandbox's to say. */
import type { Fetcher } from "../net/index.js";
import { Pieces } from "../pieces.js";
import { validatorMaker } from "../validate/maker.js";
import type { BuyerPlatform } from "./platform.js";

/** Largest answer where no bound is given, in bytes: 5 MiB, as on node. */
const MOST_BYTES = 5 * 1024 * 1024;

type Failure = Extract<Awaited<ReturnType<Fetcher>>, { ok: false }>;

const failure = (code: Failure["code"], retryable: boolean, detail: string): Failure => ({
  ...{ ok: false, code, retryable, detail },
});

/** @returns undefined where there is more than fits */
async function readAll(
  response: Response,
  most: number,
  enough: ((piece: Uint8Array) => boolean) | undefined,
): Promise<Uint8Array | undefined> {
  const pieces = new Pieces();
  const reader = response.body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) break;
    if (pieces.size + next.value.byteLength > most) {
      await reader?.cancel();
      return undefined;
    }
    pieces.add(next.value);
    if (enough?.(next.value) !== true) continue;
    await reader?.cancel();
    break;
  }
  return pieces.bytes;
}

/** What an error says, with what is behind it: runtimes other than browsers say there what is wrong with a certificate. */
function toldOf(error: unknown): string {
  const told: string[] = [];
  for (let at = error; at instanceof Error && told.length < 3; at = at.cause) {
    const { code } = at as { code?: unknown };
    told.push(typeof code === "string" ? `${at.message} (${code})` : at.message);
  }
  return told.join(": ") || "no answer";
}

const OF_TLS = /certificate|\btls\b|\bssl\b|_(CERT|TLS|SSL)|CERT_/i;

/** Whether an error is of TLS, by its words but for the host's name: that may be `ssl.example`. */
const isOfTls = (detail: string, url: string): boolean =>
  OF_TLS.test(detail.toLowerCase().replaceAll(new URL(url).hostname, ""));

const webFetch =
  (allowLocal: boolean, timeoutMs: number): Fetcher =>
  async (url, { method = "GET", headers = {}, body, signal, maxBytes = MOST_BYTES, enough } = {}) => {
    if (!allowLocal && new URL(url).protocol !== "https:")
      return failure("scheme_refused", false, "the URL is not https");
    const limit = AbortSignal.timeout(timeoutMs);
    const until = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    let answered = false;
    try {
      const init = { method, headers: headers as Record<string, string>, signal: until };
      // A redirect would take credentials to where nobody sent them; workers know no way to refuse one but to look at it.
      const response = await fetch(url, {
        ...init,
        redirect: "manual",
        ...(body !== undefined && { body: body }),
      });
      answered = true;
      // What a browser makes of a redirect it does not follow.
      if (response.type === "opaqueredirect") return failure("redirect_limit", false, "the agent redirects");
      const fields = Object.fromEntries(response.headers);
      const bytes = await readAll(response, maxBytes, enough?.(fields));
      if (bytes === undefined) return failure("too_large", false, `the answer has more than ${maxBytes} bytes`);
      const { status } = response;
      return { ok: true, url, status, headers: fields, body: bytes, truncated: false };
    } catch (error) {
      const detail = toldOf(error);
      if (limit.aborted) return failure("total_timeout", true, detail);
      if (signal?.aborted === true) return failure("aborted", true, detail);
      if (answered) return failure("connection_lost", true, detail);
      return failure(isOfTls(detail, url) ? "tls_failed" : "connect_failed", true, detail);
    }
  };

export const webPlatform: BuyerPlatform = {
  makeFetch: (allowLocal, timeoutMs) => ({ fetch: webFetch(allowLocal, timeoutMs), close: async () => {} }),
  signer: async () => (await import("../signing/web.js")).signRequest,
  // Compiling makes code, which workers do not allow: the release's own, as `generate --standalone` emits it, is given instead.
  validatorsOf: (source, releases) =>
    validatorMaker(source, releases, ({ version }) => {
      throw new TypeError(`give the validator of release ${version} that was generated with --standalone`);
    }),
};
