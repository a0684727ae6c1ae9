/** The pages that list what a release has. */
import { linkFrom } from "../address.js";
import { aboutSchema, type Book } from "../book.js";
import { type Insert, type Markup, markup } from "../markup.js";
import type { SchemaListView } from "../views.js";
import { recoveryAdvice } from "./entries.js";
import { type Here, pageLink, plainTable, quoted, schemaLink } from "./fields.js";
import { bookName } from "./layout.js";

const groups = <T>(list: readonly T[], key: (one: T) => string): [string, T[]][] => {
  const found = new Map<string, T[]>();
  for (const one of list) found.set(key(one), [...(found.get(key(one)) ?? []), one]);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
};

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** The release, and its tools by protocol area. */
export function toolsPage(here: Here): Markup {
  const { model, folder, events } = here.book;
  const areas = groups(model.tools, ({ protocol }) => protocol);
  const to = (file: string): string => linkFrom(here.path, `${folder}${file}.html`);
  const tables = areas.map(([area, tools]) => {
    const items = tools.map(
      ({ name, summary, mutating, deprecatedIn, arms }) =>
        markup`<li>${pageLink(here, "tools", name)}${deprecatedIn !== undefined && markup` <b class="tag old">deprecated</b>`}${mutating && markup` <b class="tag">writes</b>`}${arms.some(({ status }) => status === "submitted") && markup` <b class="tag">may take long</b>`}<p>${quoted(summary)}`,
    );
    return markup`<section><h2 id="area-${area}">${area} <small>${plural(tools.length, "tool")}</small></h2><ul class="cards">${items}</ul></section>`;
  });
  return markup`<h1>${bookName(here.book)}</h1>
<ul class="figures">
<li><a href="#area-${areas[0]?.[0]}"><b>${model.tools.length}</b> tools</a>
<li><a href="${to("events/index")}"><b>${events.length}</b> events</a>
<li><a href="${to("codes/index")}"><b>${model.codes.length}</b> error codes</a>
<li><a href="${to("specialisms/index")}"><b>${model.specialisms.length}</b> specialisms</a>
<li><a href="${to("schemas/index")}"><b>${model.documents.length}</b> schemas</a></ul>
<nav class="toc" aria-label="Areas">${areas.map(([area]) => markup`<a href="#area-${area}">${area}</a> `)}</nav>
${tables}
<p class="from">Made on ${model.generatedAt.slice(0, 10)}; digest <code>${model.digest}</code></p>
${leftOut(here.book)}`;
}

const leftOut = ({ model }: Book): Insert =>
  model.leftOut.length > 0 &&
  markup`<section><h2>Left out</h2><p>Files that these need are missing.<ul>${model.leftOut.map(({ tool, because }) => markup`<li><code>${tool}</code>: ${because.join("; ")}`)}</ul></section>`;

export function codesPage(here: Here): Markup {
  const { model } = here.book;
  const order = Object.keys(recoveryAdvice);
  const byRecovery = groups(model.codes, ({ recovery }) => recovery).sort(
    ([a], [b]) => order.indexOf(a) - order.indexOf(b),
  );
  return markup`<h1>Error codes, by recovery</h1>
<p class="lead">A code that is not listed is <b class="tag ${model.defaultUnknownRecovery}">${model.defaultUnknownRecovery}</b>. ${quoted(model.policyNote)}</p>
<nav class="toc" aria-label="Recoveries">${byRecovery.map(([recovery, codes]) => markup`<a href="#${recovery}">${recovery} (${codes.length})</a> `)}</nav>
${byRecovery.map(
  ([recovery, codes]) =>
    markup`<section><h2 id="${recovery}">${recovery} <small>${recoveryAdvice[recovery]}</small></h2>${plainTable(
      `Codes that are ${recovery}`,
      ["Code", "What to do"],
      codes.map(({ code, suggestion }) => [pageLink(here, "codes", code), quoted(suggestion)]),
    )}</section>`,
)}`;
}

export function eventsPage(here: Here): Markup {
  const { book } = here;
  const rows = book.events.map(({ kind, schema, subscribable }): Insert[] => {
    const document = book.documents.get(schema);
    return [
      pageLink(here, "events", kind),
      document === undefined ? "" : quoted(aboutSchema(document)),
      subscribable ? "yes" : "no",
      schemaLink(here, schema, schema),
    ];
  });
  if (rows.length === 0) return markup`<h1>Events</h1><p>The release has no schema of an event.`;
  return markup`<h1>Events</h1><p class="lead">What a seller tells unasked, by webhook.</p>
${plainTable("Events", ["Kind", "What it says", "Subscribable", "Schema"], rows)}`;
}

/** Which specialism exercises which tool. */
export function specialismsPage(here: Here): Markup {
  const { model, atlas } = here.book;
  const list = model.specialisms.map(({ id, title, protocol, exercised }): Insert[] => [
    pageLink(here, "specialisms", id),
    title,
    protocol,
    `${exercised.length} exercised, ${atlas.needs.get(id)?.length ?? 0} to serve`,
  ]);
  const used = model.tools.filter(({ name }) =>
    model.specialisms.some(({ exercised, entryPoints }) => exercised.includes(name) || entryPoints.includes(name)),
  );
  const rows = used.map(({ name }): Insert[] => [
    pageLink(here, "tools", name),
    ...model.specialisms.map(({ id, entryPoints, exercised }) => {
      if (entryPoints.includes(name)) return mark("E", `entry point of ${id}`, "entry");
      if (exercised.includes(name)) return mark("x", `exercised by ${id}`, "has");
      return atlas.needs.get(id)?.includes(name) ? mark("n", `needed beside by ${id}`, "needs") : undefined;
    }),
  ]);
  const head = model.specialisms.map(
    ({ id }) => markup`<span class="turned">${pageLink(here, "specialisms", id)}</span>`,
  );
  return markup`<h1>Specialisms</h1>
<p class="lead">What an agent claims to do, and the tools that go with it.</p>
${plainTable("Specialisms", ["Specialism", "Title", "Area", "Tools"], list)}
<h2 id="matrix">Which tool goes with which</h2>
<p><b class="cell entry">E</b> entry point, <b class="cell has">x</b> exercised by its tests, <b class="cell needs">n</b> needed beside.</p>
<div class="matrix">${plainTable("Specialisms by tool", ["Tool", ...head], rows)}</div>`;
}

const mark = (text: string, says: string, kind: string): Markup =>
  markup`<b class="cell ${kind}" title="${says}">${text}</b>`;

export function schemasPage(here: Here, view: SchemaListView): Markup {
  const name = (path: string): string =>
    path
      .split("/")
      .at(-1)!
      .replace(/\.json$/, "");
  const sections = view.folders.map(
    ({
      folder,
      schemas,
    }) => markup`<section><details class="folder" open><summary><h2 id="folder-${folder}">${folder === "" ? "top" : folder} <small>${plural(schemas.length, "schema")}</small></h2></summary>
<ul class="schemas">${schemas.map(({ path, about, uses }) => markup`<li>${schemaLink(here, path, name(path))} <small>${uses > 0 && `used in ${plural(uses, "place")}`}</small><p>${quoted(about)}`)}</ul></details></section>`,
  );
  const bad = view.unreadable.map(({ path, because }) => markup`<li><code>${path}</code>: ${because}`);
  return markup`<h1>Schemas</h1><p class="lead">Every schema of the release, with what refers to it.</p>
<nav class="toc" aria-label="Folders">${view.folders.map(({ folder }) => markup`<a href="#folder-${folder}">${folder === "" ? "top" : folder}</a> `)}</nav>
${sections}
${bad.length > 0 && markup`<section><h2>Not shown</h2><ul>${bad}</ul></section>`}`;
}

const number = (count: number | undefined): Insert =>
  count !== undefined && markup`<span class="number">${count.toLocaleString("en-GB")}</span>`;

/** The shortest copy's folder whole, of the others what they have beyond it. */
const shortName = (folder: string, first: string): string =>
  folder !== first && folder.startsWith(`${first}/`) ? folder.slice(first.length + 1) : folder;

/** What each tool costs in the list that a model is given. */
export function listingPage(here: Here): Markup {
  const { model, atlas } = here.book;
  const projections = [
    ...new Set([...atlas.listings.values()].flatMap(({ projections: held }) => Object.keys(held))),
  ].sort();
  const sum = (pick: (name: string) => number | undefined): number =>
    model.tools.reduce((total, { name }) => total + (pick(name) ?? 0), 0);
  const columns: readonly ((name: string) => number | undefined)[] = [
    (name) => atlas.listings.get(name)?.described,
    (name) => atlas.listings.get(name)?.bare,
    (name) => atlas.listings.get(name)?.answer,
    ...projections.map((one) => (name: string) => atlas.listings.get(name)?.projections[one]),
  ];
  const rows = [...model.tools]
    .sort(
      (a, b) =>
        atlas.listings.get(b.name)!.described - atlas.listings.get(a.name)!.described || (a.name < b.name ? -1 : 1),
    )
    .map(({ name }): Insert[] => [pageLink(here, "tools", name), ...columns.map((column) => number(column(name)))]);
  return markup`<h1>What each tool costs in a list</h1>
<p class="lead">A model that is given an agent's tools reads an entry for each: its name, its summary, the schema of its request. In bytes of compact JSON, with everything that a schema refers to.</p>
<dl class="facts"><dt>described<dd>with every title and description of the release
<dt>bare<dd>what validators need and no more
<dt>answer<dd>the answer's schema, which a list may leave out
${projections.length > 0 && markup`<dt>${projections[0]} and below it<dd>the release's own copies for tool lists, both schemas; a copy need not have every tool`}</dl>
${plainTable(
  "Bytes of each tool's entry",
  ["Tool", "described", "bare", "answer", ...projections.map((one) => shortName(one, projections[0]!))],
  [...rows, [markup`<b>All ${model.tools.length}</b>`, ...columns.map((column) => number(sum(column)))]],
)}
`;
}
