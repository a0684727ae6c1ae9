export { type CompileFault, compiles } from "./compiles.js";
export { type NewSellerOptions, type NewSellerResult, newSeller } from "./scaffold.js";
export { addArms } from "./update.js";
