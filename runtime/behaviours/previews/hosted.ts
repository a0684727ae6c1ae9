/** Content the agent serves itself: previews, what tags load, and images it has drawn. */
import type { Seller } from "../../seller/create.js";
import type { BehaviourCall, BehaviourSettings } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { EVERYBODY } from "../frame/documents.js";

interface Hosted {
  readonly type: "text/html; charset=utf-8" | "image/svg+xml" | "application/xml" | "audio/wav";
  readonly content: string;
  /** How bytes that are no text are kept. */
  readonly encoded?: "base64";
  /** ISO 8601. */
  readonly expires: string;
}

const NAME = "hosted";
const kept = collection<Hosted>(NAME);
const PATH = "/hosted";

/** Keeps content and says where it is served. */
export function host(call: BehaviourCall, content: Hosted): { readonly id: string; readonly url: string } {
  const id = call.id("pv");
  kept.put(call, EVERYBODY, id, content);
  return { id, url: `${new URL(call.agentUrl).origin}${PATH}/${id}` };
}

/** Content that is served no more. */
export const unhost = (call: BehaviourCall, id: string): void => kept.remove(call, EVERYBODY, id);

/** Serves what is hosted, until its time is up. Nothing in it may reach out of its frame. */
export function serveHosted(app: Seller["app"], { store }: BehaviourSettings, now: () => number = Date.now): void {
  app.get<{ Params: { id: string } }>(`${PATH}/:id`, async (request, reply) => {
    const stored = await store.get({ collection: NAME, owner: EVERYBODY, id: request.params.id });
    const found = stored === undefined ? undefined : (JSON.parse(stored.body) as Hosted);
    if (found === undefined || Date.parse(found.expires) <= now()) return reply.code(404).send({ error: "not there" });
    return reply
      .type(found.type)
      .header(
        "content-security-policy",
        "sandbox allow-popups; default-src 'none'; img-src * data:; media-src *; style-src 'unsafe-inline'",
      )
      .header("x-content-type-options", "nosniff")
      .send(found.encoded === undefined ? found.content : Buffer.from(found.content, found.encoded));
  });
}
