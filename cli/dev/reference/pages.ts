/** Every page of the reference that is made, not written. */
import { release as release30 } from "../../../generated/3.0.0/index.js";
import { release as release31 } from "../../../generated/3.1.0/index.js";
import { apiPages } from "./api.js";
import { cliPage } from "./cli.js";
import { configurationPage } from "./configuration.js";
import { errorsPage } from "./errors.js";
import { eventsPage } from "./events.js";
import { metricsPage } from "./metrics.js";
import { type Page, pageOf } from "./page.js";

const list = (): Page =>
  pageOf("index.md", "Reference", [
    "- [API](api/index.md): every entry of the package and what it exports",
    "- [Commands](cli.md)",
    "- [Error codes](errors.md): meaning, cause, remedy",
    "- [Events](events.md) and their fields",
    "- [Metrics](metrics.md)",
    "- [Configuration](configuration.md)",
    "",
    "These pages are made from the sources by `./run reference`, and a test compares them. What the protocol itself says:",
    "[the protocol](../protocol/index.md).",
  ]);

/** Paths are from docs/reference/. */
export const referencePages = async (root: string): Promise<Page[]> => [
  list(),
  ...apiPages(root),
  await cliPage(),
  errorsPage(),
  eventsPage([release30, release31]),
  await metricsPage(),
  configurationPage(root),
];
