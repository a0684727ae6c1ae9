/** Fetches what publishers say at their own origins, and keeps it fresh. */
export { type ReadFile, type ReadOptions, readAuthorizationFile } from "./authorization-file.js";
export { createCrawler } from "./crawler.js";
export { type Doctor, type DoctorOptions, type ExaminedFile, examineGiven, openDoctor } from "./doctor.js";
export type { LinkStatus, Network, NetworkOptions, PublisherLink } from "./network.js";
export type { Crawler, CrawlerOptions, CrawlLimits, CrawlRefusal, CrawlRequestRecord } from "./types.js";
