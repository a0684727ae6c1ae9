/** What a buyer remembers of its calls. */
import type { Migration } from "./migration.js";

const sqlite = "select 1;";

const postgres = "select 1;";

export const buyer: Migration = { version: 7, name: "buyer", sqlite, postgres };
