/** Who may come in: signature, credentials, rate; before anything of a call is looked at. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Release } from "../contract/index.js";
import { endpointSigning } from "../facts/index.js";
import { type Refusal, verifyRequest } from "../signing/index.js";
import { ANONYMOUS, apiKey, openAuth } from "./auth.js";
import type { SellerSettings } from "./settings.js";
import { failurePayload } from "./tool-error.js";
import type { AuthRequest, Identity } from "./types.js";

/** A request's body as it came, and as it was understood. */
export interface RawBody {
  readonly raw: Uint8Array;
  readonly json: unknown;
}

/** A refusal as HTTP states it; transports put it into their own body. */
export interface GateRefusal {
  readonly status: 401 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON-RPC code (docs/protocol/errors.md#json-rpc-codes). */
  readonly rpcCode: number;
  readonly message: string;
  readonly data: object;
}

export type Admitted = { readonly identity: Identity } | { readonly refused: GateRefusal };

/** What is asked of the gate: which tools are called, and which of them change something. */
export interface Asked {
  readonly mutating: boolean;
  /** Everything asked for is public. */
  readonly open: boolean;
  /** Tools called. */
  readonly calls: number;
}

/** Path of RFC 9728 metadata; the resource's own path follows. */
export const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

const RPC = { rateLimited: -32029, unauthenticated: -32028, unavailable: -32027 } as const;
const WINDOW_MS = 10_000;

export interface Gate {
  admit(request: FastifyRequest, asked: Asked): Promise<Admitted>;
}

/** The first of the codes that the release has: releases split one into finer ones. */
const codeOf = ({ errors }: Release, codes: readonly string[]): string =>
  codes.find((code) => Object.hasOwn(errors, code)) ?? codes.at(-1)!;

/**
 * @param settings those of the endpoint: its releases decide the profile of signatures
 * @param resource URL of the endpoint
 */
export function createGate<Tx>(app: FastifyInstance, settings: SellerSettings<Tx>, resource: string): Gate {
  const [release] = settings.releases as readonly [Release];
  const { auth = settings.signedChanges ? { ...openAuth, challenge: "Signature" } : openAuth } = settings;
  const refuse = (
    status: GateRefusal["status"],
    rpcCode: number,
    error: { code: string; message: string; retry_after?: number },
    headers: Record<string, string>,
  ): { refused: GateRefusal } => {
    const data = failurePayload([error], release);
    return { refused: { status, headers, rpcCode, message: error.message, data } };
  };
  const unauthenticated = (presented: boolean) => {
    const code = codeOf(release, [presented ? "AUTH_INVALID" : "AUTH_MISSING", "AUTH_REQUIRED"]);
    const message = presented ? "The credentials are not good here." : "This needs credentials.";
    const detail = presented ? ', error="invalid_token"' : "";
    // Below the base: whatever hands a path of its host on to a seller hands this on too.
    const place = `${settings.baseUrl}${RESOURCE_METADATA}${resource.slice(settings.baseUrl.length)}`;
    const metadata = auth.authorizationServers === undefined ? "" : `, resource_metadata="${place}"`;
    const challenge = `${auth.challenge ?? "Bearer"} realm="${resource}"${detail}${metadata}`;
    return refuse(401, RPC.unauthenticated, { code, message }, { "www-authenticate": challenge });
  };
  const limited = limiter(app, settings);
  const verify = signatureVerifier(settings);
  return {
    async admit(request, asked) {
      const given: AuthRequest = { headers: request.headers, signer: undefined, ip: request.ip };
      // Another credential may stand in for a signature, so it is looked at first.
      const early = standsIn(settings) && presents(given) ? await auth.authenticate(given) : undefined;
      const verdict = await verify(request, early !== undefined);
      if ("code" in verdict) {
        const { code, status, retryAfterSeconds } = verdict;
        const headers = {
          "www-authenticate": `Signature error="${code}"`,
          ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
        };
        const error = { code: codeOf(release, ["AUTH_INVALID", "AUTH_REQUIRED"]), message: code };
        return refuse(status, RPC.unauthenticated, error, headers);
      }
      const { signer, warned } = verdict;
      // Where everybody may come in, nothing makes up for a signature that does not hold.
      if (warned && settings.auth === undefined) return unauthenticated(true);
      // They would be one principal, with the orders of all of them.
      if (settings.signedChanges && signer === undefined && asked.mutating)
        return unauthenticated(presents({ ...given, signer }));
      const identity =
        signer === undefined && early !== undefined ? early : await auth.authenticate({ ...given, signer });
      if (identity === undefined && (warned || !asked.open)) return unauthenticated(presents({ ...given, signer }));
      const caller = identity ?? { principal: ANONYMOUS };
      const wait = await limited(request, caller, asked);
      if (wait !== undefined) {
        const error = { code: "RATE_LIMITED", message: "Too many calls.", retry_after: wait };
        return refuse(429, RPC.rateLimited, error, { "retry-after": String(wait) });
      }
      return { identity: caller };
    },
  };
}

const presents = ({ headers, signer }: AuthRequest): boolean =>
  signer !== undefined || headers.authorization !== undefined || apiKey(headers) !== undefined;

/** Seconds to wait, where a principal has called too often. */
function limiter<Tx>(app: FastifyInstance, { limits, uuid }: SellerSettings<Tx>) {
  if (limits.calls === false) return async () => undefined;
  const keys = new WeakMap<FastifyRequest, string>();
  const make = (max: number) =>
    app.createRateLimit({ max, timeWindow: WINDOW_MS, keyGenerator: (request) => keys.get(request) ?? uuid() });
  const reads = make(limits.calls.reads);
  const writes = make(limits.calls.writes);
  return async (request: FastifyRequest, { principal }: Identity, asked: Asked): Promise<number | undefined> => {
    // Strangers share one name; their addresses keep them apart.
    keys.set(request, principal === ANONYMOUS ? `${principal} ${request.ip}` : principal);
    for (let call = 0; call < Math.max(1, asked.calls); call++) {
      const verdict = await (asked.mutating ? writes : reads)(request);
      if (!verdict.isAllowed && verdict.isExceeded) return Math.max(1, verdict.ttlInSeconds);
    }
    return undefined;
  };
}

/** Who signed; `warned` where the signature did not hold and another credential has to. */
interface Signature {
  readonly signer: AuthRequest["signer"];
  readonly warned: boolean;
}

/** May another credential stand in for a signature here? Not where anybody is let in: that is no credential. */
const standsIn = <Tx>({ requestSigning, auth, releases }: SellerSettings<Tx>): boolean =>
  requestSigning !== undefined &&
  requestSigning.strict !== true &&
  auth !== undefined &&
  endpointSigning(releases).profile === "3.2";

/** Fields as they came in, doubled ones apart: node's own record drops some of them. */
function* fieldPairs(raw: readonly string[]): Iterable<readonly [string, string]> {
  for (let at = 0; at < raw.length; at += 2) yield [raw[at]!, raw[at + 1]!];
}

function signatureVerifier<Tx>({ requestSigning, store, baseUrl, releases, verifiedAt }: SellerSettings<Tx>) {
  if (requestSigning === undefined) return async (): Promise<Signature> => ({ signer: undefined, warned: false });
  const { keys, replay = store.replay(), revocation, strict: _strict, ...capability } = requestSigning;
  const options = {
    keys,
    replay,
    ...(revocation !== undefined && { revocation }),
    now: () => Math.floor(verifiedAt() / 1_000),
    word: releases[0]!.word,
    capability: { supported: true, ...capability },
    rules: endpointSigning(releases),
  };
  return async (request: FastifyRequest, fallback: boolean): Promise<Signature | Refusal> => {
    const { method, url, rawHeaders } = request.raw;
    const raw = (request.body as RawBody | undefined)?.raw;
    const headers = [...fieldPairs(rawHeaders)];
    const received = { method: method ?? "", url: `${baseUrl}${url}`, headers, body: raw ?? new Uint8Array() };
    // A body that was not read, because of its type, calls nothing.
    const binding = raw === undefined ? "any" : "json-rpc";
    const result = await verifyRequest(received, { ...options, fallback, binding });
    if (!result.ok) return result;
    return result.signed
      ? { signer: { agentUrl: result.sender, keyid: result.keyid }, warned: false }
      : { signer: undefined, warned: result.warning !== undefined };
  };
}
