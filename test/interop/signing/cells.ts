/** What two sides must agree on: each target, signed by one and verified by the other, with keys as users make them. */
import {
  type Jwk,
  memoryReplayStore,
  type SignableRequest,
  type SignRequestOptions,
  signRequest,
  signWebhook,
  staticKeys,
  verifyRequest,
  verifyWebhook,
} from "../../../runtime/signing/index.js";
import type { MadeKeys } from "./keys.js";
import type { PlainRequest, Signable, SigningPeer } from "./peer.js";
import { type ForbiddenUrl, forbidden, urls } from "./urls.js";

export const WORD = "adcp";
const signables = ["webhook", "request 3.1", "request 3.2"] as const;

/** One thing to be judged. */
export interface SigningCell {
  readonly name: string;
  /** Why the two cannot agree; the cell passes where they do all the same. */
  readonly known?: string;
  /** @returns what is wrong */
  run(): Promise<string | undefined>;
}

const BODY = JSON.stringify({
  idempotency_key: "whk_01HW9D3H8FZP2N6R8T0V4X6Z9B",
  task_id: "task_456",
  status: "completed",
  result: { note: "\u00e9\u2603", amount: 12.5 },
});

export const plainRequest = (url: string, headers: PlainRequest["headers"] = {}): PlainRequest => ({
  method: "POST",
  url,
  headers: { "Content-Type": "application/json", ...headers },
  body: BODY,
});

const asSignable = ({ body, ...request }: PlainRequest): SignableRequest => ({ ...request, body: Buffer.from(body) });

const profileOf = (what: Signable): SignRequestOptions["profile"] => (what === "request 3.2" ? "3.2" : "3.1");

/** @throws AdbindError where the request cannot be signed */
export async function signOurs(what: Signable, request: PlainRequest, key: Jwk): Promise<PlainRequest> {
  const options = { key, keyid: key.kid!, word: WORD };
  const { headers } =
    what === "webhook"
      ? await signWebhook(asSignable(request), options)
      : await signRequest(asSignable(request), { ...options, profile: profileOf(what)! });
  return { ...request, headers: { ...request.headers, ...headers } as Record<string, string> };
}

/** @returns the code of a refusal */
export async function verifyOurs(what: Signable, request: PlainRequest, published: Jwk): Promise<string | undefined> {
  const options = {
    keys: staticKeys([published], { sender: "https://peer.example/" }),
    replay: memoryReplayStore(),
    word: WORD,
  };
  if (what === "webhook") {
    const result = await verifyWebhook(asSignable(request), options);
    return result.ok ? undefined : `${result.code} ${result.detail ?? ""}`;
  }
  const rules = { profile: profileOf(what)!, nonAsciiHost: "target_uri_malformed", operations: "named" } as const;
  const result = await verifyRequest(asSignable(request), { ...options, rules, operation: "create_media_buy" });
  if (!result.ok) return `${result.code} ${result.detail ?? ""}`;
  return result.signed ? undefined : "it is taken as unsigned";
}

/** One byte of the body is another: what verifies then verifies nothing. */
const changed = (request: PlainRequest): PlainRequest => ({ ...request, body: request.body.replace("456", "457") });

interface Side {
  readonly peer: SigningPeer;
  readonly keys: MadeKeys;
}

/** @param targets all of them by default */
export function agreeCells({ peer, keys }: Side, targets: readonly string[] = urls): SigningCell[] {
  return signables
    .filter((what) => peer.lacks[what] === undefined)
    .flatMap((what) =>
      targets.flatMap((url): SigningCell[] => {
        const { key, published } = what === "webhook" ? keys.webhook : keys.request;
        const known = (verifying?: Signable): Pick<SigningCell, "known"> => {
          const found = peer.departures.find((one) => one.url === url && (one.verifying ?? verifying) === verifying);
          return found === undefined ? {} : { known: found.reason };
        };
        const ours = async (): Promise<string | undefined> => {
          const signed = await signOurs(what, plainRequest(url), key);
          const refused = await peer.verify(what, signed, published);
          if (refused !== undefined) return refused;
          return (await peer.verify(what, changed(signed), published)) ? undefined : "a changed body is believed";
        };
        const theirs = async (): Promise<string | undefined> => {
          const signed = await peer.sign(what, plainRequest(url), key);
          if (!signed.ok) return `not signed: ${signed.reason}`;
          const request = plainRequest(url, signed.headers);
          const refused = await verifyOurs(what, request, published);
          if (refused !== undefined) return refused;
          return (await verifyOurs(what, changed(request), published)) ? undefined : "a changed body is believed";
        };
        const name = `${keys.alg} ${what} ${url}`;
        return [
          { name: `${name}: we sign, the peer verifies`, ...known(what), run: ours },
          { name: `${name}: the peer signs, we verify`, ...known(), run: theirs },
        ];
      }),
    );
}

/** What is forbidden is signed by nobody here, and refused where somebody else signed it. */
export const forbiddenCells = (keys: MadeKeys, list: readonly ForbiddenUrl[] = forbidden): SigningCell[] =>
  signables.flatMap((what) =>
    list.map(({ url, reason, converted }) => ({
      name: `${keys.alg} ${what} ${JSON.stringify(url)} is forbidden: ${reason}`,
      async run() {
        const { key, published } = what === "webhook" ? keys.webhook : keys.request;
        const signed = await signOurs(what, plainRequest(url), key).catch(() => undefined);
        if ((signed !== undefined) !== (converted === true)) return signed === undefined ? "not signed" : "signed";
        const good = await signOurs(what, plainRequest(urls[0]!), key);
        const refused = await verifyOurs(what, { ...good, url }, published);
        return /malformed/.test(refused ?? "") ? undefined : `not refused for its URL: ${refused}`;
      },
    })),
  );

/** Rules that are no matter of the URL, each with its reason. */
export const ruleCells = ({ peer, keys }: Side): SigningCell[] => [
  {
    name: `${keys.alg} a request under the key for webhooks is forbidden: that key has one purpose`,
    async run() {
      const { key, published } = keys.webhook;
      const signed = await signOurs("request 3.1", plainRequest(urls[0]!), key);
      if ((await verifyOurs("request 3.1", signed, published)) === undefined) return "we believe it";
      return (await peer.verify("request 3.1", signed, published)) === undefined ? "the peer believes it" : undefined;
    },
  },
  {
    name: `${keys.alg} a body with one key twice is forbidden: two readers would read it differently`,
    async run() {
      const twice = { ...plainRequest(urls[0]!), body: '{"a":1,"a":2}' };
      const signed = await signOurs("webhook", twice, keys.webhook.key).catch(() => undefined);
      return signed === undefined ? undefined : "we sign it";
    },
  },
];
