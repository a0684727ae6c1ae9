/** What every page has: its head, the way to the other pages, the search, and where its data lies. */
import { linkFrom } from "../address.js";
import type { Book } from "../book.js";
import { type Insert, type Markup, markup } from "../markup.js";

/** What a site shows: every release, oldest first. */
export interface SiteContents {
  readonly books: readonly Book[];
  /** Said of the site in its title. */
  readonly title: string;
}

export interface SitePage {
  readonly contents: SiteContents;
  /** Path of the page from the top of the site, without its ending. */
  readonly path: string;
  readonly title: string;
  /** The release that it is of; the newest one's search is offered on a page of none. */
  readonly book?: Book;
  /** Which entry of the menu it belongs to. */
  readonly section?: string;
  /** The same page of another release, where it has one. */
  readonly elsewhere?: (other: Book) => string | undefined;
  /** Further scripts, from the top of the site. */
  readonly scripts?: readonly string[];
  /** There is no data beside it. */
  readonly bare?: true;
  readonly body: Markup;
}

const menu = [
  ["Tools", "index"],
  ["Events", "events/index"],
  ["Errors", "codes/index"],
  ["Specialisms", "specialisms/index"],
  ["Schemas", "schemas/index"],
  ["Listing cost", "listing"],
] as const;

/** No page runs what a release says: scripts and styles are files of the site. */
const policy =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self' file:";

export const bookName = ({ model }: Book): string => `${model.word} ${model.version}`;

function releaseMenu({ contents, book, path, elsewhere }: SitePage): Insert {
  if (book === undefined) return undefined;
  const others = [...contents.books].reverse().map((other) => {
    const same = other === book ? path : elsewhere?.(other);
    const current = other === book && markup` aria-current="true"`;
    const hint = other !== book && elsewhere !== undefined && same === undefined && markup` <small>not there</small>`;
    return markup`<li><a href="${linkFrom(path, `${same ?? `${other.folder}index`}.html`)}"${current}>${bookName(other)}</a>${hint}`;
  });
  return markup`<details class="releases"><summary>${bookName(book)}</summary><ul>${others}</ul></details>`;
}

function mainMenu({ contents, book, path, section }: SitePage): Insert {
  const item = (text: string, to: string): Markup =>
    markup`<li><a href="${linkFrom(path, `${to}.html`)}"${text === section && markup` aria-current="page"`}>${text}</a>`;
  const own = book === undefined ? [] : menu.map(([text, to]) => item(text, `${book.folder}${to}`));
  const compared = contents.books.length > 1 ? [item("Compare", "compare")] : [];
  return markup`<nav aria-label="Pages"><ul>${own}${item("Releases", "timeline")}${compared}</ul></nav>`;
}

/** The page as a file: it has no script of its own, so what a release says cannot be one. */
export function pageText(page: SitePage): string {
  const { contents, path, title, body, bare, scripts = [] } = page;
  const searched = page.book ?? contents.books.at(-1)!;
  const to = (file: string): string => linkFrom(path, file);
  const file = path.split("/").at(-1)!;
  const beside =
    bare === true ? undefined : markup`<link rel="alternate" type="application/json" href="${`${file}.json`}">`;
  const json =
    bare === true ? undefined : markup`<p class="beside"><a href="${`${file}.json`}">This page as JSON</a></p>`;
  return markup`<!doctype html>
<html lang="en" data-top="${to("").replace(/[^/]*$/, "")}" data-release="${searched.folder}">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - ${contents.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to("assets/explorer.css")}">
${beside}<script src="${to("assets/theme.js")}"></script>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="home" href="${to("index.html")}">${contents.title}</a>
${releaseMenu(page)}
<form class="search" role="search" action="${to(`${searched.folder}search.html`)}"><label for="q">Search ${bookName(searched)}</label><input id="q" name="q" type="search" placeholder="Search ${bookName(searched)}" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></form>
<button class="theme" type="button" hidden>Dark</button>
${mainMenu(page)}
</header>
<main id="main" tabindex="-1">
${body}
</main>
<footer>${json}<p>Printed by adbind from the releases' own files; their texts are their authors'.</footer>
${["assets/explorer.js", ...scripts].map((script) => markup`<script src="${to(script)}" defer></script>`)}
`.text;
}
