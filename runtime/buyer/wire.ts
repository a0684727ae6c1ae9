/** HTTP for the transports' SDKs: the guarded fetch in the shape of the platform's, with credentials and signatures. */
import type { JsonObject, RequestProfileName } from "../contract/index.js";
import { answerEvent } from "../net/answer-event.js";
import { retryAfterInSeconds } from "../net/retry-after.js";
import type { RequestCapability } from "../signing/index.js";
import type { WireUse } from "../transport/caller.js";
import { shortText, WireFault } from "../transport/fault.js";
import type { OAuthClient } from "./oauth/client.js";
import type { BuyerSettings } from "./settings.js";

export interface Wire {
  /** A `fetch` for an SDK. */
  fetchFor(use: WireUse): typeof globalThis.fetch;
  /** What the agent asks of signatures, once it is known. */
  signature: RequestCapability | undefined;
  /** The profile it verifies, by what it declares; before that is known, the one of our newest release. */
  profile: RequestProfileName;
}

async function credentials({ auth, oauth }: BuyerSettings): Promise<Readonly<Record<string, string>>> {
  if (auth === undefined) return {};
  if ("headers" in auth) return auth.headers();
  if ("oauth" in auth) return { authorization: `Bearer ${await oauth!.token()}` };
  const token = typeof auth.bearer === "string" ? auth.bearer : await auth.bearer();
  return { authorization: `Bearer ${token}` };
}

const NO_PLACE = "The agent's card names a place to call that is no absolute URL";

/** Fields of SDKs that belong to the connection, which is not theirs. */
const dropped = new Set(["host", "connection", "content-length", "accept-encoding"]);

export function createWire(settings: BuyerSettings): Wire {
  const { origin } = new URL(settings.url);
  const wire: Wire = {
    signature: undefined,
    profile: settings.releases[0]!.facts.signing.profile.value,
    fetchFor: (use) => async (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (!URL.canParse(url)) throw new WireFault(`${NO_PLACE}: ${shortText(url)}`, { unsent: true });
      const method = (init?.method ?? "GET").toUpperCase();
      const given = Object.fromEntries(new Headers(init?.headers));
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(given)) if (!dropped.has(name)) headers[name] = value;
      // Streams of a server's own messages are not used: none of them is an answer.
      if (method === "GET" && headers.accept === "text/event-stream") return new Response(null, { status: 405 });
      const edited = edit(init?.body, use);
      const body = edited === undefined ? undefined : new TextEncoder().encode(edited);
      const signal = use.signal ?? init?.signal ?? undefined;
      // An agent card may name any host; credentials are for the one that was configured.
      const ours = new URL(url).origin === origin;
      const send = async (): Promise<Response> => {
        const traceparent = (await import("../trace-context.js")).activeTraceparent();
        const traced = traceparent === undefined ? {} : { traceparent };
        const sent = { ...headers, ...traced, ...(ours && (await credentials(settings))) };
        if (body !== undefined) Object.assign(sent, await signed(wire, settings, { url, method, headers: sent, body }));
        return exchange(settings, use, { url, method, headers: sent, body, signal });
      };
      const { oauth } = settings;
      if (!ours && settings.auth !== undefined) return send().catch((error: unknown) => withheld(error, url, origin));
      if (oauth === undefined) return send();
      return withFreshToken(oauth, send);
    },
  };
  return wire;
}

/** A refusal at a place that the credentials were not sent to says why they were not. */
function withheld(error: unknown, url: string, origin: string): never {
  if (!(error instanceof WireFault) || error.status !== 401) throw error;
  const { status, body, challenge } = error;
  const why = `the credentials are for ${origin}, and the agent's card names ${shortText(new URL(url).origin)}`;
  throw new WireFault(`${error.message}: ${why}`, { status, body, challenge });
}

/** A token that is refused is got anew, once: it may have been withdrawn, or have ended on its way. */
async function withFreshToken(oauth: OAuthClient, send: () => Promise<Response>): Promise<Response> {
  const used = await oauth.token();
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof WireFault) || error.status !== 401) throw error;
    if (!(await oauth.refused(used, error.challenge))) throw error;
    return send();
  }
}

function edit(body: RequestInit["body"], { edit }: WireUse): string | undefined {
  if (typeof body !== "string") return undefined;
  return edit === undefined ? body : JSON.stringify(edit(JSON.parse(body) as JsonObject));
}

interface Outbound {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

async function signed(
  { signature, profile }: Wire,
  { signing, now, word, signer }: BuyerSettings,
  { url, method, headers, body }: Outbound,
): Promise<Readonly<Record<string, string>>> {
  if (signing === undefined) return {};
  if (signing.when !== "always" && signature?.supported !== true) return {};
  const signRequest = await signer();
  const { headers: fields } = await signRequest(
    { url, method, headers, body: body! },
    {
      ...{ key: signing.key, keyid: signing.keyid, word, now: () => Math.floor(now() / 1000) },
      profile,
      // The newer profile knows no verifier that forbids it.
      contentDigest: profile === "3.2" || signature?.covers_content_digest !== "forbidden",
    },
  );
  // Names in one case: a field given twice would be two fields.
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}

async function exchange(settings: BuyerSettings, { seen }: WireUse, outbound: Outbound): Promise<Response> {
  const { url, method, headers, body, signal } = outbound;
  const { maxAnswerBytes: maxBytes } = settings;
  const result = await settings.fetch(url, {
    ...{ method, headers, maxBytes },
    ...(body && { body, enough: answerEvent(body) }),
    ...(signal && { signal }),
  });
  // Whoever carries requests may know no bound.
  const size = result.ok ? result.body.byteLength : 0;
  if (size > maxBytes || (result.ok && result.truncated) || (!result.ok && result.code === "too_large")) {
    const remedy = "ask for less, or raise maxAnswerBytes";
    throw new WireFault(`The agent's answer has more than ${maxBytes} bytes: ${remedy}`, { unread: true });
  }
  if (!result.ok) {
    const retryable = result.retryable || unread.has(result.code);
    // Whoever has to mend a certificate has to know what is wrong with it.
    const why = result.code === "tls_failed" ? ` (${shortText(result.detail)})` : "";
    throw new WireFault(`No answer from the agent: ${result.code}${why}`, { retryable });
  }
  const text = new TextDecoder().decode(result.body);
  if (result.status >= 300) {
    throw new WireFault(`The agent answered HTTP ${result.status}${elsewhere(result, url)}`, {
      status: result.status,
      retryable: result.status >= 500,
      retryAfter: retryAfterInSeconds(result.headers["retry-after"], settings.now()),
      body: text,
      challenge: result.headers["www-authenticate"],
    });
  }
  if (seen !== undefined) tell(text, seen);
  const empty = result.status === 204 || result.status === 202 || method === "HEAD";
  const { "content-length": _, ...kept } = result.headers;
  return new Response(empty ? null : text, { status: result.status, headers: kept });
}

/** Where a redirection leads: requests are signed for one URL and carry credentials, so none is followed. */
function elsewhere(
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  url: string,
): string {
  const { location = "" } = headers;
  if (status >= 400 || !URL.canParse(location, url)) return "";
  const place = shortText(new URL(location, url).href);
  return ` and leads to ${place}: no redirection is followed, give that URL if it is the agent's`;
}

/** Something came back that nobody reads: what became of the request is not known. */
const unread: ReadonlySet<string> = new Set(["encoding_refused", "response_malformed"]);

function tell(text: string, seen: (message: unknown) => void): void {
  try {
    seen(JSON.parse(text));
  } catch {
    // The request has come to whoever answers: what became of it is not known.
    throw new WireFault(`The agent's answer is no JSON: ${shortText(text.slice(0, 80))}`, { retryable: true });
  }
}
