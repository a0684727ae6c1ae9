/** The pages of `adbind outbox serve`. No script; whatever a receiver said is text. */

import { type Html, html, type Part } from "../runtime/registry/server/pages/html.js";
import { style as registryStyle } from "../runtime/registry/server/pages/style.js";
import type { EndpointEntry, OutboxCounts, OutboxEntry, OutboxEvent } from "../runtime/sender/operators.js";

export const OUTBOX_STYLE_PATH = "/static/outbox.css";

export const outboxStyle = `${registryStyle}
main { max-width: 76rem; } header { max-width: 76rem; }
form.inline { display: inline; background: none; border: 0; padding: 0; margin: 0; }
form.inline button { padding: 0.2rem 0.7rem; margin: 0 0.25rem 0.25rem 0; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem; padding: 0; margin: 0.75rem 0; list-style: none; }
.numbers li { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.5rem 0.75rem; }
.numbers b { display: block; font-size: 1.4rem; }
th, td { overflow-wrap: normal; }
td.long { overflow-wrap: anywhere; min-width: 12rem; }
td.narrow { white-space: nowrap; }
q { quotes: none; overflow-wrap: anywhere; }
select { font: inherit; width: 100%; padding: 0.45rem; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 0.25rem; }
@media (max-width: 60rem) {
  thead { position: absolute; left: -100rem; }
  table, tbody, tr, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.5rem 0.75rem; margin: 0.5rem 0; }
  td { border: 0; padding: 0.1rem 0; overflow-wrap: anywhere; }
  td:empty { display: none; }
  td::before { content: attr(data-head) ": "; font-weight: 600; }
}
@media (max-width: 40rem) { dl { display: block; } dd { margin-bottom: 0.5rem; } }
`;

/** What forms carry beside what they change. */
export interface FormToken {
  readonly csrf: string;
}

interface View {
  readonly title: string;
  readonly body: Part;
  readonly current?: "endpoints" | "events";
}

const menu = [
  ["endpoints", "/", "Endpoints"],
  ["events", "/events", "Events"],
] as const;

const frame = ({ title, body, current }: View): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Outbox</title>
<link rel="stylesheet" href="${OUTBOX_STYLE_PATH}">
<link rel="icon" href="data:,">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="name">Outbox</p>
<nav aria-label="Pages"><ul>${menu.map(
  ([id, href, label]) =>
    html`<li><a href="${href}"${id === current ? html` aria-current="page"` : ""}>${label}</a></li>`,
)}</ul></nav>
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;

const at = (ms: number | null): string => (ms === null ? "" : new Date(ms).toISOString().replace(/\.\d+Z$/, "Z"));

/** A column: its head, and how its cells are. */
interface Column {
  readonly head: string;
  /** `long` may be broken anywhere, `narrow` nowhere. */
  readonly kind?: "long" | "narrow";
}

const columnsOf = (...heads: readonly (string | readonly [head: string, kind: "long" | "narrow"])[]): Column[] =>
  heads.map((one) => (typeof one === "string" ? { head: one } : { head: one[0], kind: one[1] }));

/** On a narrow screen each row is a card, its cells named; the roles say that it is a table all the same. */
const table = (label: string, columns: readonly Column[], rows: readonly (readonly Part[])[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">${columns.map(
    ({ head }) => html`<th scope="col" role="columnheader">${head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (cells) =>
      html`<tr role="row">${cells.map((cell, column) => {
        const { head, kind } = columns[column]!;
        return html`<td role="cell" data-head="${head}"${kind === undefined ? "" : html` class="${kind}"`}>${cell}</td>`;
      })}</tr>`,
  )}</tbody></table></div>`;

/** A button that changes something. @param about for those who hear the page: what is changed */
const button = (action: string, fields: Readonly<Record<string, string>>, label: string, about: string): Html =>
  html`<form class="inline" method="post" action="${action}">${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="second" aria-label="${label} ${about}">${label}</button></form>`;

const stateOf = (state: EndpointEntry["state"] | OutboxEntry["state"]): Html =>
  html`<span class="${["well", "waiting", "out"].includes(state) ? "good" : "bad"}">${state}</span>`;

const switchOf = ({ state, endpoint, url }: EndpointEntry, { csrf }: FormToken): Html =>
  state === "well" || state === "failing"
    ? button("/pause", { endpoint, csrf }, "Pause", url || endpoint)
    : html`${button("/resume", { endpoint, csrf }, "Resume", url || endpoint)}${
        state === "resting" ? button("/pause", { endpoint, csrf }, "Pause", url || endpoint) : ""
      }`;

const endpointPath = (endpoint: string): string => `/endpoint?${new URLSearchParams({ name: endpoint })}`;

const next = (path: string, more: boolean): Part => (more ? html`<p><a href="${path}">More</a></p>` : "");

export interface EndpointsView extends FormToken {
  readonly counts: OutboxCounts;
  readonly endpoints: readonly EndpointEntry[];
  readonly more: boolean;
}

export const endpointsPage = ({ counts, endpoints, more, ...token }: EndpointsView): Html =>
  frame({
    title: "Endpoints",
    current: "endpoints",
    body: html`<ul class="numbers">${Object.entries(counts).map(
      ([state, count]) => html`<li><b>${count}</b> <a href="/events?state=${state}">${state}</a></li>`,
    )}</ul>
${
  endpoints.length === 0
    ? html`<p>Nothing waits, and no endpoint fails or is paused.</p>`
    : table(
        "Endpoints",
        columnsOf(["State", "narrow"], "Waiting", "Principal", ["Endpoint", "long"], "Last failure", "Change"),
        endpoints.map((one) => [
          html`${stateOf(one.state)}${one.restsUntil === null ? "" : html`<br>until ${at(one.restsUntil)}`}`,
          one.waiting,
          one.principal,
          html`<a href="${endpointPath(one.endpoint)}">${one.url || one.endpoint}</a>`,
          one.error,
          switchOf(one, token),
        ]),
      )
}
${next(`/?${new URLSearchParams({ after: endpoints.at(-1)?.endpoint ?? "" })}`, more)}`,
  });

const eventTable = (label: string, events: readonly OutboxEntry[]): Html =>
  events.length === 0
    ? html`<p>There is none.</p>`
    : table(
        label,
        columnsOf("Number", "State", "Type", "Of", "Attempts", ["Made", "narrow"], ["To", "long"], "Last failure"),
        events.map((one) => [
          html`<a href="/event?id=${one.id}">${one.id}</a>`,
          stateOf(one.state),
          one.type,
          one.subject,
          one.attempts,
          at(one.createdAt),
          one.url,
          one.error,
        ]),
      );

/** Answers are what strangers wrote: told as theirs, and where they were cut. */
const answerOf = ({ answer }: OutboxEvent["history"][0]): Part =>
  answer === undefined ? "" : html`<q>${answer.text}</q>${answer.cut ? html` <em>(cut)</em>` : ""}`;

const historyTable = (label: string, history: OutboxEvent["history"]): Html =>
  history.length === 0
    ? html`<p>There was no attempt.</p>`
    : table(
        label,
        columnsOf("Attempt", ["At", "narrow"], "Outcome", "Status", ["Took", "narrow"], "Why", [
          "The receiver's answer",
          "long",
        ]),
        history.map((one) => [
          one.attempt,
          one.fired_at,
          one.status,
          one.http_status_code,
          one.response_time_ms === null ? "" : `${one.response_time_ms} ms`,
          one.error_message,
          answerOf(one),
        ]),
      );

export interface EndpointView extends FormToken {
  readonly endpoint: EndpointEntry;
  readonly events: readonly OutboxEntry[];
  readonly answers: OutboxEvent["history"];
  readonly more: boolean;
}

export const endpointPage = ({ endpoint, events, answers, more, ...token }: EndpointView): Html =>
  frame({
    title: endpoint.url || endpoint.endpoint,
    current: "endpoints",
    body: html`<dl><dt>State</dt><dd>${stateOf(endpoint.state)}</dd><dt>Waiting</dt><dd>${endpoint.waiting}</dd>
<dt>Principal</dt><dd>${endpoint.principal}</dd><dt>Name</dt><dd><code>${endpoint.endpoint}</code></dd>
${endpoint.failingSince === null ? "" : html`<dt>Fails since</dt><dd>${at(endpoint.failingSince)}</dd>`}
${endpoint.restsUntil === null ? "" : html`<dt>Left alone until</dt><dd>${at(endpoint.restsUntil)}</dd>`}</dl>
<p>${switchOf(endpoint, token)}</p>
<h2>Last answers</h2>
${historyTable("Last answers", answers)}
<h2>Events</h2>
${eventTable("Events of the endpoint", events)}
${next(`${endpointPath(endpoint.endpoint)}&after=${events.at(-1)?.id ?? 0}`, more)}`,
  });

export interface EventsView {
  /** As they were asked for. */
  readonly query: Readonly<Record<string, string>>;
  readonly events: readonly OutboxEntry[];
  readonly more: boolean;
  /** Why what was asked for cannot be shown. */
  readonly problem?: string | undefined;
}

const states = ["", "waiting", "dead", "expired", "refused"];

export const outboxPage = ({ query, events, more, problem }: EventsView): Html =>
  frame({
    title: "Events",
    current: "events",
    body: html`<form method="get" action="/events"><div class="fields">
<div class="field"><label for="state">State</label><select id="state" name="state">${states.map(
      (state) =>
        html`<option value="${state}"${state === (query.state ?? "") ? html` selected` : ""}>${state || "any"}</option>`,
    )}</select></div>
<div class="field"><label for="task">Task or media buy</label><input id="task" name="task" value="${query.task}"></div>
<div class="field"><label for="principal">Principal</label><input id="principal" name="principal" value="${query.principal}"></div>
</div><button>Show</button></form>
${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
${eventTable("Events", events)}
${next(`/events?${new URLSearchParams({ ...query, after: String(events.at(-1)?.id ?? 0) })}`, more)}`,
  });

export const outboxEventPage = ({ event, csrf }: FormToken & { readonly event: OutboxEvent }): Html => {
  const id = String(event.id);
  const ended = !["waiting", "out"].includes(event.state);
  return frame({
    title: `Event ${id}`,
    current: "events",
    body: html`<dl><dt>State</dt><dd>${stateOf(event.state)}</dd><dt>Type</dt><dd>${event.type}</dd><dt>Of</dt><dd>${event.subject}</dd>
<dt>Principal</dt><dd>${event.principal}</dd><dt>To</dt><dd><a href="${endpointPath(event.endpoint)}">${event.url || event.endpoint}</a></dd>
<dt>Key</dt><dd><code>${event.key}</code></dd><dt>Made</dt><dd>${at(event.createdAt)}</dd>
<dt>Next attempt</dt><dd>${ended ? "none" : event.due === null ? "behind another event" : at(event.due)}</dd>
${event.error === null ? "" : html`<dt>Why it was not delivered</dt><dd>${event.error}</dd>`}</dl>
<p>${ended ? button("/replay", { id, csrf }, "Replay", `event ${id}`) : button("/retry", { id, csrf }, "Try now", `event ${id}`)}</p>
<h2>Attempts</h2>
${historyTable("Attempts", event.history)}`,
  });
};

export const loginPage = ({ problem, csrf }: FormToken & { readonly problem?: string }): Html =>
  frame({
    title: "Who are you?",
    body: html`<form method="post" action="/login"><input type="hidden" name="csrf" value="${csrf}">
<div class="field"><label for="token">Token</label><p class="hint" id="token-hint">As the server was started with.</p>
<input id="token" name="token" type="password" autocomplete="current-password" aria-describedby="token-hint"></div>
${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}<button>Go on</button></form>`,
  });

export const problemPage = (title: string, text: string): Html =>
  frame({ title, body: html`<p class="problem">${text}</p>` });
