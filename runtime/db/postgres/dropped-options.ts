/** What a URL says of its sessions, where a pooler refuses it, or has dropped it without a word. */
import { AdbindError } from "../../errors.js";
import { isDatabaseError } from "./driver.js";

/** As a connection is made: PgBouncer says it, and Amazon's RDS Proxy. @returns what it is, and what to do */
export const optionsRefused = (error: unknown): readonly [what: string, remedy: string] | undefined =>
  isDatabaseError(error) &&
  error.severity === "FATAL" &&
  /unsupported startup parameter|command-line options/i.test(error.message)
    ? [`a pooler takes no options (${error.message})`, "take them off the URL, and say them of its role (alter role)"]
    : undefined;

/** `-c name=value`, `-cname=value` or `--name=value`, as the server reads `options`: a backslash makes a space part of the value. */
const SETTING = /(?:^|\s)(?:-c\s*|--)([A-Za-z_][\w.-]*)=((?:\\.|[^\s\\])*)/gs;

/** Settings of a URL's `options`, by name. @param url with one host */
function settingsOf(url: string): ReadonlyMap<string, string> {
  const options = new URL(url, "postgres://localhost").searchParams.get("options") ?? "";
  const found = [...options.matchAll(SETTING)].map(([, name = "", value = ""]) => {
    return [name.toLowerCase().replaceAll("-", "_"), value.replaceAll(/\\(.)/gs, "$1")] as const;
  });
  return new Map(found);
}

/** By these it is decided whose rows a session sees: its schema, its role, and what policies ask for. Others cost time at most. */
const decides = (name: string): boolean => name === "search_path" || name === "role" || name.includes(".");

/** However somebody has written it. */
const bare = (value: string | null): string => (value ?? "").replaceAll(/[\s"']/g, "");

/** Answers the settings that are named in `$1`, as a JSON object. */
export const SETTINGS_NOW =
  "(select json_object_agg(name, current_setting(name, true)) from unnest($1::text[]) as name)";

/** Those that have to be as they were asked for. @param url with one host: several are no URL as JavaScript knows it */
export const decidingSettings = (url: string): ReadonlyMap<string, string> =>
  new Map([...settingsOf(url)].filter(([name]) => decides(name)));

/**
 * Tenants whose tables stand in schemas of one database would share those of the first schema that is found.
 * @param now settings as sessions have them
 * @param where host, port and database, for messages
 * @throws AdbindError `store_option_invalid` for the first that is not as the URL says
 */
export function refuseDropped(
  asked: ReadonlyMap<string, string>,
  now: Readonly<Record<string, string | null>>,
  where: string,
): void {
  for (const [name, value] of asked) {
    const is = now[name] ?? null;
    if (bare(is) === bare(value)) continue;
    throw new AdbindError(
      "store_option_invalid",
      `a pooler drops what the URL's \`options\` say: ${name} is ${is === null || is === "" ? "not set" : is}, and not ${value}`,
      {
        where,
        remedy: `say it of the role that connects (alter role NAME in database NAME set ${name} = ...), which holds behind a pooler too, or give the server's own address`,
      },
    );
  }
}
