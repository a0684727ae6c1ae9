/** Drivers of databases: an application installs the one it uses, and it is loaded when a database is first opened. */
// Not `createRequire` by its name: webpack knows that one, and makes nothing of what it would give.
import nodeModule from "node:module";
import { isMissingPackage, toldMissing } from "../peer.js";

/** A driver, loaded or not. */
export interface Driver<T> {
  /** @throws AdbindError `package_missing` */
  load(): T;
  /** Undefined while nothing has been opened with it: no error is one of its own then. */
  readonly loaded: T | undefined;
}

/** Asked for by using it: webpack answers `typeof` of it itself, also where there will be none. */
function bundleName(): string | undefined {
  try {
    return __filename;
  } catch {
    return undefined;
  }
}

/**
 * Files that a driver is looked for from, in turn. In a bundle of CommonJS `import.meta` is empty, or says where this file was when the
 * bundle was made; there the bundle has its other name. In one of ES modules all that is left may be the program that runs.
 */
function* places(): Generator<string | undefined> {
  yield bundleName();
  yield import.meta.url;
  yield process.argv[1];
}

/** Undefined where a bundler's name for a file is no place. */
function requireFrom(place: string | undefined): NodeJS.Require | undefined {
  try {
    return place === undefined ? undefined : nodeModule.createRequire(place);
  } catch {
    return undefined;
  }
}

/** @throws what Node says where it is from none of the places, or what the package fails with */
function required(name: string): unknown {
  let missing: unknown = Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
  for (const place of places()) {
    const from = requireFrom(place);
    try {
      if (from !== undefined) return from(name);
    } catch (error) {
      if (!isMissingPackage(error, [name])) throw error;
      missing = error;
    }
  }
  throw missing;
}

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
        loaded ??= required(name) as T;
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
