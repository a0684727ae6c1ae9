/** A worker that takes a job and is killed with it. */
import { openBossQueue } from "../../runtime/queue/pg-boss.js";
import { openPostgresStore } from "../../runtime/store/postgres/open.js";

const store = await openPostgresStore({ url: process.argv[2]!, connections: 2 });
const queue = await openBossQueue(store, "test");
const jobs = await queue.take({ now: Date.now(), limit: 1, room: () => 1 });
console.log(jobs.length);
setInterval(() => void queue.renew(jobs, Date.now()), 3_000);
