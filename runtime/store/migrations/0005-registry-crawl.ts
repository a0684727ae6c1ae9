/** What a registry's crawler remembers. */
import type { Migration } from "./migration.js";

const sqlite = "select 1;";

const postgres = "select 1;";

export const registryCrawl: Migration = { version: 5, name: "registry-crawl", sqlite, postgres };
