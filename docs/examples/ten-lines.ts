/** The smallest seller there is, and what it answers. */
import { createSeller } from "adbind/seller";
import { release } from "#bindings";
import { products } from "./ten-lines/catalogue.js";

const seller = await createSeller({
  release,
  tools: { get_products: (_request, ctx) => ctx.complete({ products }) },
});
const address = await seller.start({ port: Number(process.env.PORT ?? 0) });

const { createBuyer } = await import("adbind/buyer");
const buyer = createBuyer({ release, agent: `${address}/mcp`, allowLocal: true });
const { answer } = await buyer.tools.get_products({ buying_mode: "wholesale" });
if (answer.status === "completed") console.log(answer.data.products.map(({ name }) => name));
await buyer.close();
await seller.close();
