export { type NewSellerOptions, type NewSellerResult, newSeller } from "./scaffold.js";
