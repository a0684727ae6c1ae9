import { postgresGround } from "./databases.js";
import { unawareCase } from "./unaware.case.js";

unawareCase(await postgresGround());
