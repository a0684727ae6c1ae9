/** What may change about the names and ids of a release. */
import * as mutate from "../../support/mutate-release.js";
import type { Files } from "../../support/release.js";

const withoutIds = (files: Files): void => {
  const prefix = mutate.idPrefix(files);
  mutate.mapRefs(files, (uri, key, file) => {
    if (key === "$id") return undefined;
    return uri.startsWith(prefix) ? "../".repeat(file.split("/").length - 1) + uri.slice(prefix.length) : uri;
  });
};

const rebase =
  (to: (path: string) => string) =>
  (files: Files): void => {
    const prefix = mutate.idPrefix(files);
    mutate.mapRefs(files, (uri) => (uri.startsWith(prefix) ? to(uri.slice(prefix.length)) : uri));
  };

const twice = (files: Files): void => {
  files["aa/context.json"] = structuredClone(files["core/context.json"]);
};

/** Changes that leave a release a release. */
export const legal: Record<string, (files: Files) => void> = {
  "another word": (files) => mutate.renameWord(files, "zeta"),
  "a word with a digit": (files) => mutate.renameWord(files, "a2z"),
  "a folder renamed, its ids too": (files) => mutate.renameFolder(files, "media-buy", "Sales.v2", true),
  "a folder renamed, its ids not": (files) => mutate.renameFolder(files, "core", "kernel", false),
  "a folder no URI can hold": (files) => mutate.renameFolder(files, "media-buy", "média buy", false),
  "every folder renamed, no id": (files) => {
    for (const folder of ["core", "enums", "media-buy", "brand"])
      mutate.renameFolder(files, folder, `x-${folder}`, false);
  },
  "relative references, no ids": withoutIds,
  "https ids": rebase((file) => `https://releases.example/v9/${file}`),
  "ids that are no paths": rebase((file) => `urn:example:${file.replaceAll("/", ":")}`),
  "an id twice": twice,
  "tools renamed": (files) => {
    mutate.renameTool(files, "create_media_buy", "delete");
    mutate.renameTool(files, "get_signals", "get_3d_x_1");
  },
  "a recursion through two files": (files) => {
    const prefix = mutate.idPrefix(files);
    mutate.schemaAt(files, "core/context.json").properties = { other: { $ref: `${prefix}core/ext.json` } };
    mutate.schemaAt(files, "core/ext.json").properties = { other: { $ref: `${prefix}core/context.json` } };
  },
};
