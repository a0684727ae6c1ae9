/**
 * The server of the operators' pages. Whoever may speak to it may stop deliveries: it believes a request only from its own
 * pages (a cookie that no other site sends, a token in each form, the origin), for its own name, and with a token where it is
 * open to others than this machine.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { AdbindError } from "../runtime/errors.js";
import { Html } from "../runtime/registry/server/pages/html.js";
import type { EndpointEntry, Outbox, OutboxFilter } from "../runtime/sender/operators.js";
import {
  endpointPage,
  endpointsPage,
  loginPage,
  OUTBOX_STYLE_PATH,
  outboxEventPage,
  outboxPage,
  outboxStyle,
  problemPage,
} from "./outbox-pages.js";

export interface OutboxServerOptions {
  readonly outbox: Outbox;
  /** Asked for where it is given. */
  readonly token?: string | undefined;
  /** Names it is called by, with their port; others are somebody's who points a name of their own here. Any without them. */
  readonly hosts?: () => readonly string[];
  /** Hears why a page that says "See the server" could not be made. */
  readonly onFault?: (error: unknown) => void;
}

const COOKIE = "adbind_outbox";
/** Longest body of a form, in bytes. */
const FORM_BYTES = 8_192;
/** Milliseconds a caller has to send its request. */
const REQUEST_MS = 10_000;
const PAGE = 50;
/** Events whose attempts are shown as an endpoint's last answers. */
const ANSWERED = 5;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

interface Answer {
  readonly status: number;
  readonly page?: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

const same = (left: string, right: string): boolean => {
  const key = randomBytes(32);
  const of = (text: string) => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(of(left), of(right));
};

const problem = (status: number, title: string, text: string): Answer => ({ status, page: problemPage(title, text) });
/** Seconds after which an operator tries again what is on its way to another database. */
const MOVING_SECONDS = 5;

/** Of what a page does not tell: names of tables and files are nobody's but the operator's. */
const UNTOLD = 500;

function failed(error: unknown): Answer {
  const { code, message } = error instanceof AdbindError ? error : { code: "", message: "" };
  if (code === "split_moving")
    return { ...problem(503, "On its way", message), headers: { "retry-after": String(MOVING_SECONDS) } };
  if (code === "split_wrong_database") return problem(409, "In another database", message);
  if (code === "endpoint_unknown") return problem(404, "No such endpoint", "It is not known any more, or never was.");
  return problem(UNTOLD, "It failed", "The outbox could not be read or changed. See the server.");
}

const seeOther = (location: string): Answer => ({ status: 303, headers: { location } });

/** One caller, by its cookie. */
interface Session {
  readonly csrf: string;
  readonly known: boolean;
}

export function createOutboxServer(options: OutboxServerOptions): Server {
  const secret = randomBytes(32);
  const sign = (what: string): string => createHmac("sha256", secret).update(what).digest("base64url");
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    answerOf(options, sign, request).then(
      (answer) => send(request, response, answer),
      (error: unknown) => {
        const answer = failed(error);
        // Whoever broke off has made the fault himself.
        if (answer.status === UNTOLD && request.errored === null) options.onFault?.(error);
        send(request, response, answer);
      },
    );
  });
  return server;
}

function send(request: IncomingMessage, response: ServerResponse, { status, page, headers }: Answer): void {
  response.writeHead(status, { ...HEADERS, ...headers });
  response.end(request.method === "HEAD" ? undefined : (page?.text ?? ""));
  request.resume();
}

const cookieIn = ({ headers }: IncomingMessage): string =>
  headers.cookie
    ?.split(";")
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1) ?? "";

/** `id.state.signature`: the state says whether the token was given. */
function sessionOf(request: IncomingMessage, sign: (what: string) => string): Session & { readonly id: string } {
  const [id = "", state = "", signature = ""] = cookieIn(request).split(".");
  if (id !== "" && same(signature, sign(`${id}.${state}`)))
    return { id, csrf: sign(`csrf ${id}`), known: state === "in" };
  return { id: "", csrf: "", known: false };
}

const cookieOf = (sign: (what: string) => string, state: "in" | "out") => {
  const id = randomBytes(18).toString("base64url");
  const value = `${id}.${state}.${sign(`${id}.${state}`)}`;
  return { id, header: { "set-cookie": `${COOKIE}=${value}; HttpOnly; SameSite=Strict; Path=/` } };
};

async function answerOf(
  { outbox, token, hosts }: OutboxServerOptions,
  sign: (what: string) => string,
  request: IncomingMessage,
): Promise<Answer> {
  const host = request.headers.host ?? "";
  if (hosts !== undefined && !hosts().includes(host))
    return problem(421, "Not here", "This server is not called that.");
  const url = URL.parse(request.url ?? "/", "http://outbox.invalid");
  if (url === null) return problem(404, "Not here", "There is no such page.");
  if (url.pathname === OUTBOX_STYLE_PATH)
    return { status: 200, headers: { "content-type": "text/css" }, page: new Html(outboxStyle) };
  const session = sessionOf(request, sign);
  if (request.method === "POST") return posted({ outbox, token, sign, session, host, request, path: url.pathname });
  if (request.method !== "GET" && request.method !== "HEAD")
    return problem(405, "Not that way", "Pages are read with GET.");
  if (session.id === "") {
    const { id, header } = cookieOf(sign, token === undefined ? "in" : "out");
    const fresh = { id, csrf: sign(`csrf ${id}`), known: token === undefined };
    const answer = await pageOf(outbox, url, fresh, token);
    return { ...answer, headers: { ...answer.headers, ...header } };
  }
  return pageOf(outbox, url, session, token);
}

interface Posted {
  readonly outbox: Outbox;
  readonly token: string | undefined;
  readonly sign: (what: string) => string;
  readonly session: Session & { readonly id: string };
  readonly host: string;
  readonly request: IncomingMessage;
  readonly path: string;
}

async function posted({ outbox, token, sign, session, host, request, path }: Posted): Promise<Answer> {
  const { origin } = request.headers;
  const elsewhere = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
  const site = request.headers["sec-fetch-site"];
  const form = await formIn(request);
  if (form === undefined) return problem(413, "Too long", "The form is longer than any of these pages sends.");
  const own = session.id !== "" && same(form.get("csrf") ?? "", session.csrf);
  if (elsewhere || (site !== undefined && site !== "same-origin") || !own)
    return problem(403, "Not from here", "The form is not of this page, or the page is old. Load it again.");
  if (path === "/login") {
    if (token !== undefined && same(form.get("token") ?? "", token)) {
      const { header } = cookieOf(sign, "in");
      return { ...seeOther("/"), headers: { location: "/", ...header } };
    }
    return { status: 403, page: loginPage({ csrf: session.csrf, problem: "That is not the token." }) };
  }
  if (token !== undefined && !session.known) return seeOther("/");
  return changed(outbox, path, form);
}

async function changed(outbox: Outbox, path: string, form: URLSearchParams): Promise<Answer> {
  const endpoint = form.get("endpoint") ?? "";
  const id = Number(form.get("id"));
  switch (path) {
    case "/pause":
      if (endpoint === "") return problem(400, "No endpoint", "The form names none.");
      await outbox.pause(endpoint);
      return seeOther("/");
    case "/resume":
      if (await outbox.resume(endpoint)) return seeOther("/");
      return problem(404, "Not paused", "There is no such endpoint that was paused. Nothing was changed.");
    case "/retry":
    case "/replay":
      if (!Number.isSafeInteger(id) || id <= 0) return problem(400, "No event", "The form names none.");
      await outbox[path === "/retry" ? "retry" : "replay"](id);
      return seeOther(`/event?id=${id}`);
    default:
      return problem(404, "Not here", "There is no such form.");
  }
}

async function formIn(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > FORM_BYTES) return undefined;
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString("utf8"));
}

async function pageOf(outbox: Outbox, url: URL, { csrf, known }: Session, token: string | undefined): Promise<Answer> {
  if (token !== undefined && !known) return { status: url.pathname === "/" ? 200 : 403, page: loginPage({ csrf }) };
  const { searchParams: query } = url;
  switch (url.pathname) {
    case "/": {
      const found = await outbox.endpoints({ after: query.get("after") ?? "", limit: PAGE });
      const counts = await outbox.counts();
      return { status: 200, page: endpointsPage({ csrf, counts, endpoints: found, more: found.length === PAGE }) };
    }
    case "/endpoint":
      return endpointOf(outbox, query, csrf);
    case "/events":
      return eventsOf(outbox, query);
    case "/event": {
      const event = await outbox.show(numberIn(query, "id"));
      if (event === undefined) return problem(404, "No such event", "It was delivered, or dropped.");
      return { status: 200, page: outboxEventPage({ csrf, event }) };
    }
    default:
      return problem(404, "Not here", "There is no such page.");
  }
}

const numberIn = (query: URLSearchParams, name: string): number => {
  const number = Number(query.get(name));
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
};

async function endpointOf(outbox: Outbox, query: URLSearchParams, csrf: string): Promise<Answer> {
  const name = query.get("name") ?? "";
  // The one before it in their order is not known: names up to it are left out by all but its last character.
  const near = await outbox.endpoints({ after: name.slice(0, -1), limit: PAGE });
  const entry = near.find((one) => one.endpoint === name);
  const events = await outbox.list({ endpoint: name, after: numberIn(query, "after"), limit: PAGE });
  if (name === "" || (entry === undefined && events.length === 0))
    return problem(404, "No such endpoint", "Nothing waits for it, and it neither fails nor is paused.");
  const answers = await lastAnswers(
    outbox,
    events.map(({ id }) => id),
  );
  const endpoint: EndpointEntry = entry ?? {
    ...{ endpoint: name, principal: "", url: events[0]!.url, error: null, waiting: 0, state: "well" },
    ...{ restsUntil: null, failingSince: null },
  };
  return { status: 200, page: endpointPage({ csrf, endpoint, events, answers, more: events.length === PAGE }) };
}

async function lastAnswers(outbox: Outbox, ids: readonly number[]) {
  const shown = await Promise.all(ids.slice(0, ANSWERED).map((id) => outbox.show(id)));
  return shown
    .flatMap((event) => event?.history ?? [])
    .toSorted((a, b) => (a.fired_at < b.fired_at ? 1 : -1))
    .slice(0, ANSWERED);
}

const states: Readonly<Record<string, NonNullable<OutboxFilter["state"]>>> = {
  waiting: "ready",
  dead: "dead",
  expired: "expired",
  refused: "refused",
};

async function eventsOf(outbox: Outbox, given: URLSearchParams): Promise<Answer> {
  const asked = ["state", "task", "principal"].flatMap((name) => {
    const value = given.get(name)?.trim() ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  const query: Record<string, string> = Object.fromEntries(asked);
  const { state: name, ...rest } = query;
  if (name !== undefined && !Object.hasOwn(states, name)) {
    const view = { query: rest, events: [], more: false, problem: "There is no such state." };
    return { status: 400, page: outboxPage(view) };
  }
  const state = name === undefined ? undefined : states[name]!;
  const filter = { ...rest, ...(state !== undefined && { state }), after: numberIn(given, "after"), limit: PAGE };
  const events = await outbox.list(filter);
  return { status: 200, page: outboxPage({ query, events, more: events.length === PAGE }) };
}
