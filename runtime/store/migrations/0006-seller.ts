/** What a seller remembers of its calls and tasks. */
import type { Migration } from "./migration.js";

const sqlite = "select 1;";

const postgres = "select 1;";

export const seller: Migration = { version: 6, name: "seller", sqlite, postgres };
