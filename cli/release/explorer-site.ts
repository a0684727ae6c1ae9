/** A site of `adbind explorer`, told from bindings of a release: both have an `owned.json`. */
import { isMap } from "../../generator/load/walk.js";

/** Is what `owned.json` says of a site, which has a name of its own in the word's place? */
export const isExplorerSite = ({ options }: { readonly options?: unknown }): boolean =>
  isMap(options) && options.explorer === true;
