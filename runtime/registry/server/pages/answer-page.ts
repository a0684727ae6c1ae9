/** A page for people, or the same for programs: by `.json` at the end of its path, or by what a request accepts. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type PageView, page, pageHeaders } from "./layout.js";

export type QueryValues = Record<string, string | readonly string[] | undefined>;

/** Both paths of a page. */
export const pagePaths = (path: string): string[] => [path, `${path}.json`];

/** How much a request wants a type, from 0 to 1; its most exact range counts (RFC 9110 section 12.5.1). */
function qualityOf(accept: string, type: string): number {
  const ranges = accept.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const q = parameters.find((one) => one.startsWith("q="));
    return { range, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  for (const wanted of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const found = ranges.find(({ range }) => range === wanted);
    if (found !== undefined) return found.q;
  }
  return 0;
}

function wantsJson({ url, headers }: FastifyRequest): boolean {
  if (/^[^?]*\.json(?:\?|$)/.test(url)) return true;
  const accept = headers.accept ?? "";
  return qualityOf(accept, "application/json") > qualityOf(accept, "text/html");
}

/** The page's address with `.json`. */
const jsonOf = ({ url }: FastifyRequest): string => {
  const [path = "", ...query] = url.split("?");
  return `${path === "/" ? "/index" : path.replace(/\.json$/, "")}.json${query.length > 0 ? `?${query.join("?")}` : ""}`;
};

export interface PageAnswer {
  readonly view: PageView;
  /** What programs are answered. */
  readonly json: unknown;
  readonly status?: number;
  /** Seconds until a page that waits for something looks again. */
  readonly refresh?: number | undefined;
}

export function answerPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { view, json, status = 200, refresh }: PageAnswer,
): FastifyReply {
  reply.code(status).header("vary", "Accept");
  if (wantsJson(request))
    return reply
      .headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" })
      .send(JSON.stringify(json, null, 1));
  // Works without a script; whoever does not want to wait reloads.
  if (refresh !== undefined) reply.header("refresh", String(refresh));
  const shown = request.method === "GET" ? { ...view, json: jsonOf(request) } : view;
  return reply.headers(pageHeaders()).send(page(shown).text);
}

/** A value as it was sent; of several the values joined by commas, as lists are written. */
export const sent = (query: QueryValues, name: string): string => {
  const value = query[name];
  return (typeof value === "string" ? value : (value ?? []).filter((one) => one !== "").join(",")).trim();
};
