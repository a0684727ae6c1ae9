/** What URLs of databases say, for who names one and does not open it. */
import { engines } from "./open.js";

/** How they are given. */
export const URL_FORMS = "sqlite:<path> or postgres://user@host/database";

const FILE_SCHEME = "sqlite:";

/** The URL of a database that is a file. */
export const fileUrl = (file: string): string => FILE_SCHEME + file;

/** The file that a URL names; undefined where it names a server. */
export const fileOf = (url: string): string | undefined =>
  url.startsWith(FILE_SCHEME) ? url.slice(FILE_SCHEME.length) : undefined;

/** Whether some engine opens it. */
export const isDatabaseUrl = (url: string): boolean => Object.values(engines).some((one) => one.url.test(url));
