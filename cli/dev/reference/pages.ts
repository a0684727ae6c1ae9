/** Every page of the reference that is made, not written. */
import { release as release30 } from "../../../generated/3.0.0/index.js";
import { release as release31 } from "../../../generated/3.1.0/index.js";
import { apiReference } from "./api.js";
import { commandReference } from "./cli.js";
import { configurationReference } from "./configuration.js";
import { errorReference } from "./errors.js";
import { eventReference } from "./events.js";
import { metricReference } from "./metrics.js";
import { type ReferencePage, referencePage } from "./page.js";

const list = (): ReferencePage =>
  referencePage("index.md", "Reference", [
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
export const referencePages = async (root: string): Promise<ReferencePage[]> => [
  list(),
  ...apiReference(root),
  await commandReference(),
  errorReference(),
  eventReference([release30, release31]),
  await metricReference(),
  configurationReference(root),
];
