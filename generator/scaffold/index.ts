export { type CompileFault, compiles } from "./compiles.js";
export { type NewBuyerOptions, type NewBuyerResult, newBuyer } from "./new-buyer.js";
export { isScaffoldedSeller, type NewSellerOptions, type NewSellerResult, newSeller } from "./scaffold.js";
export { addArms } from "./update.js";
