/** Origins behind an HTTP interceptor. Apart: once it is loaded, no real socket opens any more. */
import nock from "nock";
import { BRAND, WELL_KNOWN } from "./crawl-fixture.js";

export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly location?: string;
}

/** Answers a GET as often as it is asked. */
export const serve = (url: string, { status = 200, body = "", location }: Reply): nock.Scope => {
  const { origin, pathname } = new URL(url);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return nock(origin)
    .persist()
    .get(pathname)
    .reply(status, text, location === undefined ? {} : { location });
};

/** A domain with the files given, and 404 for the rest. */
export function site(domain: string, files: { adagents?: Reply; ads?: Reply; brand?: Reply }): nock.Scope[] {
  const none: Reply = { status: 404 };
  return [
    serve(`https://${domain}${WELL_KNOWN}`, files.adagents ?? none),
    serve(`https://${domain}/ads.txt`, files.ads ?? none),
    serve(`https://${domain}${BRAND}`, files.brand ?? none),
  ];
}
