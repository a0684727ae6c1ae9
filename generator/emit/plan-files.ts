/** The files of a release that are to stand on disk: path -> text. */
export type Plan = Map<string, string>;
