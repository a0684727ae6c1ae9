import { postgresGround } from "./databases.js";
import { splitStoreCase } from "./store.case.js";

splitStoreCase(await postgresGround());
