/** The sellers' projects of one release: written each by itself, compiled as one program, since what they share costs most. */
import path from "node:path";
import { scaffold } from "../conformance/served-seller.js";
import { typeCheckAll } from "../scaffold/project.js";

export interface Project {
  readonly folder: string;
  /** Why it cannot be started: it was not written, or does not compile. */
  readonly fault?: string;
}

/** Compiles folders as strictly as each one's own configuration has it. @returns what the compiler says, line by line */
async function complaints(projects: string, folders: readonly string[]): Promise<string[]> {
  const { code, output } = await typeCheckAll(projects, folders);
  if (code === 0) return [];
  const said = output.split("\n").filter((line) => line !== "");
  return said.length > 0 ? said : [`the compiler ended with ${code} and said nothing`];
}

/**
 * Writes and compiles sellers.
 * @param projects folder to write them below
 * @param source folder of the release
 * @returns by specialism
 */
export async function writeProjects(
  projects: string,
  source: string,
  specialisms: readonly string[],
): Promise<Map<string, Project>> {
  const written = new Map<string, Project>();
  for (const id of specialisms) {
    try {
      written.set(id, { folder: await scaffold(projects, source, id) });
    } catch (error) {
      written.set(id, { folder: "", fault: `it is not written: ${error instanceof Error ? error.message : error}` });
    }
  }
  const folders = [...written.values()].flatMap(({ folder, fault }) => (fault === undefined ? [folder] : []));
  if (folders.length === 0) return written;
  const said = await complaints(projects, folders);
  const within = (line: string, folder: string): boolean => line.startsWith(`${path.basename(folder)}/`);
  for (const [id, { folder, fault }] of written) {
    // What is said of no project is said of what all of them share.
    const own = said.find((line) => within(line, folder) || !folders.some((one) => within(line, one)));
    if (fault === undefined && own !== undefined) written.set(id, { folder, fault: `it does not compile: ${own}` });
  }
  return written;
}
