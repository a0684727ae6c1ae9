import { postgresGround } from "./databases.js";
import { moveCase } from "./move.case.js";

moveCase(await postgresGround());
