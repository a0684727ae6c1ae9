/** A buyer to be killed: it buys once, and its agent does not answer before the kill. */
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import { documentStore, openSqliteStore } from "../../runtime/store/index.js";
import { order } from "./fixtures.js";

const [agent = "", file = ""] = process.argv.slice(2);
const store = openSqliteStore({ path: file });
const buyer = createBuyer({ release, agent, allowLocal: true, intents: documentStore(store.database) });
await buyer.call("create_media_buy", order);
