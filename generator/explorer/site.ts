/** Releases -> a site: each file by its path, printed when it is asked for. */
import type { DiffReport } from "../diff/finding.js";
import { type Book, comparisonName, type ExplorerRelease, openBook, type PageKind } from "./book.js";
import { compareView } from "./compare.js";
import { presenceOf, sameIn, timelineOf } from "./history.js";
import { llmsText, toolMarkdown } from "./markdown.js";
import type { Markup } from "./markup.js";
import { scriptText } from "./markup.js";
import { codePage, eventPage, schemaPage, specialismPage } from "./pages/entries.js";
import type { Here } from "./pages/fields.js";
import { pageText, type SiteContents, type SitePage } from "./pages/layout.js";
import { codesPage, eventsPage, listingPage, schemasPage, specialismsPage, toolsPage } from "./pages/lists.js";
import { comparePage, frontPage, searchPage, timelinePage } from "./pages/site.js";
import { type Presence, toolPage } from "./pages/tool.js";
import { searchIndex } from "./search.js";
import {
  codeMentions,
  listSchemas,
  lookUpCode,
  lookUpEvent,
  lookUpSchema,
  lookUpSpecialism,
  lookUpTool,
} from "./views.js";

/** Path -> the file's text, made when it is called. */
export type Site = Map<string, () => string>;

/** Two releases by their place among those given, the older first. */
export interface Comparison {
  readonly older: ExplorerRelease;
  readonly newer: ExplorerRelease;
  /** Compares them: seconds of work. */
  readonly report: () => DiffReport;
}

export interface SiteOptions {
  /** Oldest first. */
  readonly releases: readonly ExplorerRelease[];
  readonly comparisons: readonly Comparison[];
  /** Scripts and styles by their names below `assets/`. */
  readonly assets: ReadonlyMap<string, string>;
  /** What the site is called; after the protocol's word by default. */
  readonly title?: string;
}

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Made once, however many files of the site want it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

interface Entry<View> {
  readonly kind: PageKind;
  readonly name: string;
  readonly title: string;
  readonly section: string;
  readonly view: () => View;
  readonly print: (here: Here, view: View, presence: readonly Presence[]) => Markup;
}

/** The pages of one release. */
class Chapter {
  constructor(
    private readonly site: Site,
    private readonly contents: SiteContents,
    private readonly book: Book,
  ) {}

  add(): void {
    this.addLists();
    const { model, events } = this.book;
    const mentions = once(() => codeMentions(this.book));
    for (const { name } of model.tools) this.addTool(name);
    for (const { code } of model.codes)
      this.entry({
        kind: "codes",
        name: code,
        title: code,
        section: "Errors",
        view: () => lookUpCode(this.book, code, mentions()),
        print: codePage,
      });
    for (const event of events)
      this.entry({
        ...{ kind: "events", name: event.kind, title: event.kind, section: "Events" },
        view: () => lookUpEvent(this.book, event)!,
        print: eventPage,
      });
    for (const { id } of model.specialisms)
      this.entry({
        kind: "specialisms",
        name: id,
        title: id,
        section: "Specialisms",
        view: () => lookUpSpecialism(this.book, id),
        print: specialismPage,
      });
    for (const { path } of model.documents)
      this.entry({
        kind: "schemas",
        name: path,
        title: path,
        section: "Schemas",
        view: () => lookUpSchema(this.book, path),
        print: schemaPage,
      });
    const index = `${this.book.folder}search`;
    this.site.set(`${index}-index.js`, () => `adbindSearch(${scriptText(searchIndex(this.book))});\n`);
    this.page({ path: index, title: "Search", bare: true, body: () => searchPage(this.book) });
  }

  private page({
    body,
    ...page
  }: Omit<SitePage, "contents" | "book" | "body"> & { readonly body: () => Markup }): void {
    this.site.set(`${page.path}.html`, () =>
      pageText({ ...page, contents: this.contents, book: this.book, body: body() }),
    );
  }

  private list(name: string, title: string, body: (here: Here) => Markup, data: () => unknown): void {
    const path = `${this.book.folder}${name}`;
    const elsewhere = (other: Book): string => `${other.folder}${name}`;
    this.page({ path, title, section: title, elsewhere, body: () => body({ book: this.book, path }) });
    this.site.set(`${path}.json`, () => json(data()));
  }

  private addLists(): void {
    const { book } = this;
    const { model, atlas } = book;
    const schemas = once(() => listSchemas(book));
    const tools = () => ({
      ...{ word: model.word, version: model.version, digest: model.digest },
      tools: model.tools.map(({ name, protocol, mutating, idempotency, summary }) => ({
        name,
        area: protocol,
        mutating,
        idempotency,
        summary,
      })),
    });
    const specialisms = () => model.specialisms.map((one) => ({ ...one, needs: atlas.needs.get(one.id) ?? [] }));
    this.list("index", "Tools", toolsPage, tools);
    this.list("events/index", "Events", eventsPage, () => book.events);
    this.list("codes/index", "Errors", codesPage, () => ({
      defaultUnknownRecovery: model.defaultUnknownRecovery,
      codes: model.codes,
    }));
    this.list("specialisms/index", "Specialisms", specialismsPage, specialisms);
    this.list("schemas/index", "Schemas", (here) => schemasPage(here, schemas()), schemas);
    this.list("listing", "Listing cost", listingPage, () => Object.fromEntries(atlas.listings));
  }

  private entry<View>({ kind, name, title, section, view, print }: Entry<View>): string {
    const { book, contents } = this;
    const path = book.page(kind, name);
    const made = once(view);
    const elsewhere = (other: Book): string | undefined => sameIn(other, kind, name);
    const body = (): Markup => print({ book, path }, made(), presenceOf(contents.books, book, kind, name));
    this.page({ path, title, section, elsewhere, body });
    this.site.set(`${path}.json`, () => json(made()));
    return path;
  }

  private addTool(name: string): void {
    const view = once(() => lookUpTool(this.book, name));
    const path = this.entry({ kind: "tools", name, title: name, section: "Tools", view, print: toolPage });
    this.site.set(`${path}.md`, () => toolMarkdown(this.book, view()));
  }
}

function titleOf(books: readonly Book[]): string {
  const words = [...new Set(books.map(({ model }) => model.word))].sort();
  return `${words.join(", ")} explorer`;
}

/** Every file of the site; what is in it is printed when it is asked for. */
export function planSite({ releases, comparisons, assets, title }: SiteOptions): Site {
  const site: Site = new Map();
  const opened = new Map(releases.map((one) => [one, openBook(one)]));
  const books = [...opened.values()];
  const contents: SiteContents = { books, title: title ?? titleOf(books) };
  const timeline = timelineOf(books);
  for (const [name, text] of assets) site.set(`assets/${name}`, () => text);
  const add = (path: string, page: Omit<SitePage, "contents" | "path" | "body">, body: () => Markup): void =>
    void site.set(`${path}.html`, () => pageText({ ...page, contents, path, body: body() }));
  add("index", { title: "Home" }, () => frontPage(contents, timeline));
  add("timeline", { title: "Releases", section: "Releases" }, () => timelinePage(contents, timeline));
  for (const path of ["index", "timeline"]) site.set(`${path}.json`, () => json(timeline));
  const compared = new Set<string>();
  for (const { older, newer, report } of comparisons) {
    const [a, b] = [opened.get(older)!, opened.get(newer)!];
    const name = comparisonName(a, b);
    const view = once(() => compareView(a, b, report()));
    compared.add(name);
    site.set(`compare/${name}.json`, () => json(view()));
    site.set(`compare/${name}.js`, () => `adbindCompare(${scriptText(view())});\n`);
  }
  const script = ["assets/compare.js"];
  add("compare", { title: "Compare", section: "Compare", bare: true, scripts: script }, () =>
    comparePage(contents, compared, "compare"),
  );
  for (const book of books) new Chapter(site, contents, book).add();
  site.set("llms.txt", () => llmsText(contents));
  return site;
}
