/** Files that the command line names. */
import { readFileSync } from "node:fs";
import { userPath } from "./output.js";

/**
 * Content of a file that the user named.
 * @throws the system's error, with the file's path: of a folder that is read it names none
 */
export function readUserFile(given: string): Buffer {
  const file = userPath(given);
  try {
    return readFileSync(file);
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: file }) : error;
  }
}
