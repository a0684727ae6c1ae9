/** Why an outbound request gave no answer: one closed table. A code is for logs and decisions, never for the peer. */

/**
 * What kind of failure it is. `refused`: our own rules said no before anything was sent; `connection`: no usable
 * connection; `timeout`: a limit in time; `answer`: something came back that we do not take.
 */
export type NetFailureKind = "refused" | "connection" | "timeout" | "answer";

/** What a code means, and whether the same request may be made again. */
export interface NetCodeEntry {
  readonly kind: NetFailureKind;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  readonly summary: string;
}

const refused = (summary: string): NetCodeEntry => ({ kind: "refused", retryable: false, summary });
const connection = (summary: string): NetCodeEntry => ({ kind: "connection", retryable: true, summary });
const timeout = (summary: string): NetCodeEntry => ({ kind: "timeout", retryable: true, summary });
const answer = (summary: string): NetCodeEntry => ({ kind: "answer", retryable: false, summary });

/** Every reason why a request had no answer, each with what it means. */
export const netCodes = {
  url_malformed: refused("the URL has no single reading: bad syntax, or characters that clients read differently"),
  scheme_refused: refused("the URL is not https"),
  userinfo_refused: refused("the URL carries a user name or a password"),
  port_refused: refused("the port is not one the policy allows"),
  host_refused: refused("the host is an address, or a name that only local networks resolve"),
  address_refused: refused("the name resolves to an address that is not public"),
  redirect_cross_domain: refused("a redirect leaves the registrable domain of the first URL"),
  redirect_downgrade: refused("a redirect goes from https to http"),
  redirect_limit: refused("there are more redirects than the policy allows"),
  redirect_malformed: refused("a redirect has no usable Location"),
  dns_failed: connection("the name does not resolve"),
  connect_failed: connection("no connection could be opened"),
  connection_lost: connection("the connection broke before the answer was complete"),
  tls_failed: connection("TLS failed: an invalid certificate, or no common version"),
  connect_timeout: timeout("opening the connection took too long"),
  read_timeout: timeout("the peer stayed silent too long"),
  total_timeout: timeout("the whole exchange took too long"),
  aborted: { kind: "timeout", retryable: true, summary: "the caller gave up" },
  response_malformed: answer("the answer is not HTTP"),
  encoding_refused: answer("the answer is compressed although that was declined"),
  too_large: answer("the answer is larger than the limit"),
} as const satisfies Record<string, NetCodeEntry>;

/** Why a request had no answer. */
export type NetCode = keyof typeof netCodes;

/**
 * What the party that gave the URL may be told. What name resolution, ports and certificates look like from here would
 * make us its port scanner, so everything past the URL's own syntax reads the same
 * (docs/protocol/signing.md#outbound-requests, 6).
 */
export function publicReason(code: NetCode): "url not allowed" | "could not be fetched" {
  switch (code) {
    case "url_malformed":
    case "scheme_refused":
    case "userinfo_refused":
    case "port_refused":
    case "host_refused":
      return "url not allowed";
    case "address_refused":
    case "redirect_cross_domain":
    case "redirect_downgrade":
    case "redirect_limit":
    case "redirect_malformed":
    case "dns_failed":
    case "connect_failed":
    case "connection_lost":
    case "tls_failed":
    case "connect_timeout":
    case "read_timeout":
    case "total_timeout":
    case "aborted":
    case "response_malformed":
    case "encoding_refused":
    case "too_large":
      return "could not be fetched";
  }
}

/** A failure on its way to becoming a result; it never leaves this folder. */
export class NetFault extends Error {
  override readonly name = "NetFault";
  constructor(
    readonly code: NetCode,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}
