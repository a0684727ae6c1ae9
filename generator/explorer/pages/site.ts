/** The pages that are of no one release: the first one, the timeline, the comparison, the search. */
import { linkFrom } from "../address.js";
import { type Book, comparisonName } from "../book.js";
import type { Brought, TimelineEntry } from "../history.js";
import { type Insert, type Markup, markup } from "../markup.js";
import { article } from "./fields.js";
import { bookName, type SiteContents } from "./layout.js";

const bookOf = ({ books }: SiteContents, { word, version }: TimelineEntry): Book =>
  books.find(({ model }) => model.word === word && model.version === version)!;

/** The front door: the newest release first, and what can be asked. */
export function frontPage(contents: SiteContents, timeline: readonly TimelineEntry[]): Markup {
  const newest = contents.books.at(-1)!;
  const cards = [...timeline].reverse().map((entry) => {
    const book = bookOf(contents, entry);
    const { tools, events, codes, specialisms } = entry.counts;
    return markup`<li><a href="${`${book.folder}index.html`}">${bookName(book)}</a> <small>${entry.made}</small><p>${tools} tools, ${events} events, ${codes} error codes, ${specialisms} specialisms`;
  });
  const { folder, model } = newest;
  // The claim that most is asked of is the one that is looked up most.
  const sold = model.specialisms.filter(({ id }) => model.facts.roles[id]?.value === "seller");
  const [first] = [...sold].sort((a, b) => b.exercised.length - a.exercised.length || (a.id < b.id ? -1 : 1));
  const questions: Insert[] = [
    markup`<li><a href="${`${folder}index.html`}">Which tools are there, and what do they take and answer?</a>`,
    first &&
      markup`<li><a href="${`${newest.page("specialisms", first.id)}.html`}">What must ${article(first.id)} ${first.id} seller implement?</a>`,
    markup`<li><a href="${`${folder}codes/index.html`}">What do I do about this error code?</a>`,
    markup`<li><a href="${`${folder}events/index.html`}">Which webhooks may come?</a>`,
    contents.books.length > 1 &&
      markup`<li><a href="compare.html">What changed between two releases, and whom does it break?</a>`,
  ];
  return markup`<h1>${contents.title}</h1>
<p class="lead">Look a release up: tools, messages, errors, events, schemas. Press <kbd>/</kbd> to search.</p>
<section><h2>Releases</h2><ul class="cards">${cards}</ul></section>
<section><h2>Questions</h2><ul>${questions}</ul></section>
<p class="from">For language models: <a href="llms.txt">llms.txt</a>, a Markdown file for each tool.</p>`;
}

function broughtMarkup(
  book: Book,
  what: string,
  kind: "tools" | "codes" | "specialisms" | "events",
  { added, removed }: Brought,
): Insert {
  if (added.length + removed.length === 0) return undefined;
  const link = (name: string): Markup => markup`<a href="${`${book.page(kind, name)}.html`}"><code>${name}</code></a> `;
  const list = markup`${added.map((name) => markup`<span class="plus">${link(name)}</span>`)}${removed.map((name) => markup`<del><code>${name}</code></del> `)}`;
  const head = `${what}: ${[...(added.length > 0 ? [`${added.length} new`] : []), ...(removed.length > 0 ? [`${removed.length} gone`] : [])].join(", ")}`;
  return markup`<details><summary>${head}</summary><p>${list}</details>`;
}

export function timelinePage(contents: SiteContents, timeline: readonly TimelineEntry[]): Markup {
  const items = [...timeline].reverse().map((entry) => {
    const book = bookOf(contents, entry);
    const { counts } = entry;
    const old =
      entry.before === undefined
        ? undefined
        : contents.books.find(({ model }) => model.word === entry.word && model.version === entry.before);
    const compare =
      old &&
      markup`<p><a href="${`compare.html#${comparisonName(old, book)}`}">What breaks against ${entry.before}</a>`;
    const deprecated = entry.deprecated.map((name) => markup`<code>${name}</code> `);
    return markup`<li><h2 id="${entry.version}"><a href="${`${book.folder}index.html`}">${bookName(book)}</a> <small>${entry.made}</small></h2>
<p>${counts.tools} tools, ${counts.events} events, ${counts.codes} error codes, ${counts.specialisms} specialisms, ${counts.schemas} schemas; a list of all tools has ${(entry.listing / 1e6).toFixed(1)} MB</p>
${entry.before !== undefined && markup`<p class="from">Against ${entry.before}:</p>`}
${broughtMarkup(book, "Tools", "tools", entry.tools)}${entry.deprecated.length > 0 && markup`<details><summary>Deprecated: ${entry.deprecated.length} tools</summary><p>${deprecated}</details>`}${broughtMarkup(book, "Events", "events", entry.events)}${broughtMarkup(book, "Error codes", "codes", entry.codes)}${broughtMarkup(book, "Specialisms", "specialisms", entry.specialisms)}${compare}`;
  });
  return markup`<h1>Releases</h1><ol class="timeline">${items}</ol>`;
}

/** Two releases side by side: the page is empty until its script has the data of the two. */
export function comparePage(contents: SiteContents, compared: ReadonlySet<string>, path: string): Markup {
  const options = [...contents.books]
    .reverse()
    .map((book) => markup`<option value="${book.folder.slice(0, -1).replace("/", "@")}">${bookName(book)}`);
  const has = [...compared].sort();
  return markup`<h1>Compare two releases</h1>
<form class="compare" action="${linkFrom(path, "compare.html")}" data-compared="${has.join(" ")}">
<label>Older <select name="a">${options}</select></label> <label>Newer <select name="b">${options}</select></label>
<label>Verdict <select name="verdict"><option value="">all<option value="broken">broken<option value="undecided">undecided<option value="safe">safe</select></label>
<label>Who breaks <select name="pairing"><option value="">anyone<option value="old-caller&gt;new-seller">old caller, new seller<option value="new-caller&gt;old-seller">new caller, old seller<option value="old-seller&gt;new-caller">answers of an old seller to a new caller<option value="new-seller&gt;old-caller">answers of a new seller to an old caller</select></label>
<label>Tool or text <input name="text" type="search"></label>
</form>
<p id="state" role="status">Choose two releases.</p>
<noscript><p>This page needs its script; <code>adbind diff</code> says the same, and the data lies in <code>compare/</code> as JSON.</noscript>
<div id="changes"></div>`;
}

export const searchPage = (book: Book): Markup => markup`<h1>Search ${bookName(book)}</h1>
<p id="state" role="status">Type above.</p><ol id="results" class="results"></ol>
<noscript><p>The search needs its script.</noscript>`;
