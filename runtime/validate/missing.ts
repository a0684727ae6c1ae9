import { AdbindError } from "../errors.js";

/** What a validator throws for a tool, an arm or a schema it does not have. */
export const missing = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("schema_missing", what, { where, remedy });
