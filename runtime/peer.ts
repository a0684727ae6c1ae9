/**
 * Packages that an application installs when it wants what they are for: drivers of databases, SDKs of transports, servers.
 * They are looked for when they are first needed, and where one is missing the error gives the line that installs it.
 */
import { AdbindError } from "./errors.js";

/** Not found by Node, or by Yarn's Plug'n'Play in its place, and one of these; what else fails while a package loads is its own fault. */
export function isMissingPackage(error: unknown, packages: readonly string[]): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false;
  return packages.some((name) =>
    new RegExp(`(package|module) '${name}(/|')|tried to access ${name}[ /,]`).test(String(message)),
  );
}

/** What loading failed with: an AdbindError `package_missing` where it is that one of `packages` is not there. */
export const toldMissing = (error: unknown, packages: readonly string[], wants: string): unknown =>
  isMissingPackage(error, packages)
    ? new AdbindError("package_missing", `${wants} needs a package that is not installed`, {
        where: packages.join(", "),
        remedy: `npm install ${packages.join(" ")}`,
        cause: error,
      })
    : error;

/**
 * Loads what needs packages of the application's.
 * @param packages all that it takes
 * @param wants begins the message: who needs them
 * @param load imports them, or a module of ours that does
 * @throws AdbindError `package_missing`
 */
export async function loadPeer<T>(packages: readonly string[], wants: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw toldMissing(error, packages, wants);
  }
}
