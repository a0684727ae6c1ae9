import { findProducts } from "../domain/products/find.js";
import type { Handler } from "../handler.js";

/** Products for a brief, the catalogue, or a refinement of an earlier answer. */
export const getProducts: Handler<"get_products"> = (request, call) => call.answer(findProducts(call, request));
