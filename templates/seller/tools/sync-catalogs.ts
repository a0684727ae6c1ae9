import { syncCatalogs as sync } from "../domain/catalogs/catalogs.js";
import type { Handler } from "../handler.js";

/** Catalogues of what a buyer sells. */
export const syncCatalogs: Handler<"sync_catalogs"> = (request, call) => call.answer(sync(call, request));
