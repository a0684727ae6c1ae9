import { postgresGround } from "./databases.js";
import { principalCase } from "./principals.case.js";

principalCase(await postgresGround());
