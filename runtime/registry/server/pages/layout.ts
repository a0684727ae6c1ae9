/** The frame every page has. No script, no address of anybody else. */
import { type Html, html, type Part } from "./html.js";

export interface PageView {
  readonly title: string;
  readonly body: Part;
  /** The entry of the menu the page stands under. */
  readonly current?: "publisher" | "agents" | "api";
}

export const STYLE_PATH = "/static/registry.css";

const menu = [
  ["publisher", "/", "Publishers"],
  ["agents", "/agents", "Agents"],
  ["api", "/docs", "API"],
] as const;

export const page = ({ title, body, current }: PageView): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Agent registry</title>
<link rel="stylesheet" href="${STYLE_PATH}">
<link rel="icon" href="data:,">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="name">Agent registry</p>
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

/**
 * Headers of a page: nothing is loaded but the style sheet, nothing frames it.
 * @param formTargets origins or schemes that a form may lead to, beside this server
 */
export const pageHeaders = (formTargets: readonly string[] = []): Record<string, string> => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'self'",
    "img-src data:",
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
});

/** Contrast of text is at least 7:1 in both schemes; the focus is always seen. */
export const style = `:root { color-scheme: light dark; --text: #1b1f24; --soft: #4a525c; --back: #ffffff; --box: #f3f5f7; --line: #8a94a0; --link: #0b4fa8; --good: #14532d; --bad: #8f1d14; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --soft: #b9c0c8; --back: #15181c; --box: #20252b; --line: #78828e; --link: #9cc4ff; --good: #a6e3b8; --bad: #ffb4ab; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
header, main { max-width: 60rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: baseline; border-bottom: 1px solid var(--line); }
.name { margin: 0; font-weight: 600; }
header ul { display: flex; gap: 1rem; list-style: none; margin: 0; padding: 0; }
a { color: var(--link); }
a[aria-current="page"] { color: var(--text); font-weight: 600; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; display: block; padding: 0.5rem 1rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
h1 { font-size: 1.6rem; margin: 0.75rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 1.5rem 0 0.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
form { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem; padding: 1rem; margin: 0.75rem 0; }
label, legend { display: block; font-weight: 600; }
.hint { color: var(--soft); margin: 0 0 0.25rem; font-size: 0.9rem; }
.field { margin-bottom: 0.75rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 0 1rem; }
input, textarea { font: inherit; width: 100%; padding: 0.45rem; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 0.25rem; }
input[type="checkbox"] { width: auto; }
button { font: inherit; font-weight: 600; padding: 0.5rem 1.25rem; color: var(--back); background: var(--text); border: 0; border-radius: 0.25rem; cursor: pointer; }
button.second { color: var(--text); background: var(--back); border: 1px solid var(--line); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
code, td a { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { font-weight: 600; overflow-wrap: anywhere; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { table, tbody, tr, td { display: block; } thead { position: absolute; left: -100rem; } tr { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.5rem 0.75rem; margin-bottom: 0.5rem; } td { border: 0; padding: 0.1rem 0; } td:empty { display: none; } td[data-head]:not([data-head=""])::before { content: attr(data-head) ": "; font-weight: 600; } }
@media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); } dt { margin-top: 0.5rem; } }
pre { background: var(--box); border: 1px solid var(--line); padding: 0.75rem; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: 0.92em; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
.problem { border-left: 0.3rem solid var(--bad); padding: 0.5rem 1rem; background: var(--box); }
`;
