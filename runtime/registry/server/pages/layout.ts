/** The frame every page has. No script, no address of anybody else. */
import { type Html, html, type Part } from "./html.js";

export interface PageView {
  readonly title: string;
  readonly body: Part;
  /** The entry of the menu the page stands under. */
  readonly current?: "publisher" | "agents" | "map" | "why" | "check" | "build" | "api";
  /** Where programs find the same. */
  readonly json?: string;
}

export const STYLE_PATH = "/static/registry.css";

const menu = [
  ["publisher", "/", "Publishers"],
  ["agents", "/agents", "Agents"],
  ["map", "/map", "Map"],
  ["why", "/why", "Why?"],
  ["check", "/check", "Check a file"],
  ["build", "/build", "Write a file"],
  ["api", "/docs", "API"],
] as const;

export const page = ({ title, body, current, json }: PageView): Html => html`<!doctype html>
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
${json === undefined ? "" : html`<footer><p><a href="${json}" type="application/json">This page as JSON</a></p></footer>`}
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
