/** Content this agent serves itself: previews, what tags load, and images it has drawn. */
import type { Seller } from "adbind/seller";
import { openDocuments } from "../../documents.js";
import type { Call } from "../../handler.js";
import type { Shelf } from "../../shelf.js";

interface Hosted {
  readonly type: "text/html; charset=utf-8" | "image/svg+xml" | "application/xml";
  readonly content: string;
  /** ISO 8601. */
  readonly expires: string;
}

const KIND = "hosted";
const PATH = "/hosted";

/** Keeps content and says where it is served. */
export function host(call: Call, content: Hosted): { readonly id: string; readonly url: string } {
  const id = call.id("pv");
  call.documents.put(KIND, "", id, content);
  return { id, url: `${new URL(call.agentUrl).origin}${PATH}/${id}` };
}

/** Serves what is hosted, until its time is up. Nothing in it may reach out of its frame. */
export function serveHosted(app: Seller["app"], shelf: Shelf, now: () => number = Date.now): void {
  app.get<{ Params: { id: string } }>(`${PATH}/:id`, async (request, reply) => {
    await shelf.catchUp();
    const found = openDocuments(shelf).get<Hosted>(KIND, "", request.params.id);
    if (found === undefined || Date.parse(found.expires) <= now()) return reply.code(404).send({ error: "not there" });
    return reply
      .type(found.type)
      .header(
        "content-security-policy",
        "sandbox allow-popups; default-src 'none'; img-src * data:; media-src *; style-src 'unsafe-inline'",
      )
      .header("x-content-type-options", "nosniff")
      .send(found.content);
  });
}
