/** A worker that leases a job and is killed with it. */
import { openPostgres } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";

const queue = openQueue(await openPostgres({ url: process.argv[2]!, connections: 2 }), "test");
const jobs = await queue.take({ now: Date.now(), limit: 1, room: () => 1 });
console.log(jobs.length);
setInterval(() => void queue.renew(jobs, Date.now()), 3_000);
