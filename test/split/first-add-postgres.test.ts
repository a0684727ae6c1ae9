import { postgresGround } from "./databases.js";
import { firstAddCase } from "./first-add.case.js";

firstAddCase(await postgresGround());
