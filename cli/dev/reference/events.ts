/** The page of events: the catalogue of each of our own releases. */
import type { Release } from "../../../runtime/contract/index.js";
import { type CataloguedEvent, eventCatalogue } from "../../../runtime/facts/index.js";
import { type ReferencePage, referencePage, tableOf } from "./page.js";

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

const rowOf = (event: CataloguedEvent): string[] => [
  `\`${event.kind}\``,
  code(event.channels),
  code(event.fields),
  event.within === "result" ? "envelope's `result`" : "body",
  event.order === "task" ? "by task" : event.order === "sequence" ? "numbered" : "none",
  `\`${event.identity}\``,
  `\`${String(event.schema)}\``,
];

const HEAD = ["kind", "channels", "required fields", "they stand in", "order", "known by", "schema"];

export function eventReference(releases: readonly Pick<Release, "word" | "version" | "facts">[]): ReferencePage {
  const sections = releases.flatMap((release) => [
    `## ${release.word} ${release.version}`,
    "",
    ...tableOf(HEAD, eventCatalogue(release).events.map(rowOf)),
    "",
  ]);
  return referencePage("events.md", "Events", [
    "Read from a release by `eventCatalogue` (`adbind/facts`), for any release; these are adbind's own. `adbind explorer` shows those of",
    "every release it is given. What the columns mean:",
    "",
    "- *channels*: who is told. `task` and `reporting` are registered with a call, `media-buy` outlives it, `resource` is agreed for a list",
    "  or an artifact, `account` and `agent` are notification configs, `challenge` proves an endpoint.",
    "- *order*: `by task` applies only what is newer of its task; `numbered` counts in its channel; without order, what an event says is read again",
    "  where it matters.",
    "- *known by*: what stays the same when one and the same event is sent again under another key.",
    "",
    "The envelope around a `result`, and what each kind means: [webhooks](../protocol/webhooks.md#envelope). Kinds of newer releases:",
    "[release lines](../protocol/eras.md#events).",
    "",
    ...sections,
  ]);
}
