/** Where things stand in the site: names of strangers as names of files, and links between them. */
import { createHash } from "node:crypto";

/** A longer name of a file is more than some file systems take. */
const MOST_CHARACTERS = 120;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/**
 * A stranger's name as a segment of a path: letters, digits, `.`, `_` and `-`; whatever lost something by that, or is
 * told from another by the case of its letters alone, ends in a hash of the name.
 */
export function segmentOf(name: string): string {
  const kept = name.replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[.-]+|\.+$/g, "");
  const short = kept.slice(0, MOST_CHARACTERS);
  // Names of devices are none of files on Windows; the others are the site's own.
  const reserved = /^(con|prn|aux|nul|com\d|lpt\d|index|assets|compare)(\.|$)/i.test(short);
  return short === name && short !== "" && !reserved ? short : `${short === "" ? "x" : short}-${digest(name)}`;
}

/** Path of a page for a file of the release: folders stay, the ending goes. */
export const pathOfFile = (file: string): string =>
  file
    .replace(/\.json$/, "")
    .split("/")
    .map(segmentOf)
    .join("/");

/** The link from one file of the site to another, both from its top. */
export function linkFrom(from: string, to: string): string {
  const [file = "", anchor] = to.split("#", 2);
  const here = from.split("/").slice(0, -1);
  const there = file.split("/");
  let shared = 0;
  while (shared < here.length && shared < there.length - 1 && here[shared] === there[shared]) shared++;
  const path = [...here.slice(shared).map(() => ".."), ...there.slice(shared)].join("/");
  return anchor === undefined ? path : `${path}#${encodeURIComponent(anchor)}`;
}

/** Names of files that differ only in case are one file for many a disk: those after the first get another name. */
export class Places {
  private readonly taken = new Map<string, string>();

  /** @param path without an ending, from the top of the site */
  place(path: string): string {
    const key = path.toLowerCase();
    const owner = this.taken.get(key);
    if (owner === undefined || owner === path) {
      this.taken.set(key, path);
      return path;
    }
    return this.place(`${path}-${digest(path)}`);
  }
}
