/** Drivers of databases: an application installs the one it uses, and it is loaded when a database is first opened. */
import { createRequire } from "node:module";
import { toldMissing } from "../peer.js";

/** A driver, loaded or not. */
export interface Driver<T> {
  /** @throws AdbindError `package_missing` */
  load(): T;
  /** Undefined while nothing has been opened with it: no error is one of its own then. */
  readonly loaded: T | undefined;
}

/** In a bundle of CommonJS `import.meta` is empty; there the file has its other name. */
const require = createRequire(import.meta.url ?? __filename);

/**
 * A driver by its package, which is CommonJS: whoever imports the same package has the same classes.
 * @param name of the package
 * @param wants who needs it; begins the message where it is missing
 */
export function driver<T>(name: string, wants: string): Driver<T> {
  let loaded: T | undefined;
  return {
    load() {
      try {
        loaded ??= require(name) as T;
        return loaded;
      } catch (error) {
        throw toldMissing(error, [name], wants);
      }
    },
    get loaded() {
      return loaded;
    },
  };
}
