/** The driver of PostgreSQL. */
import type pg from "pg";
import { type Driver, driver } from "../driver.js";

export const postgres: Driver<typeof pg> = driver<typeof pg>("pg", "a PostgreSQL database");

/** Is an error one that the server answered with? */
export const isDatabaseError = (error: unknown): error is pg.DatabaseError =>
  postgres.loaded !== undefined && error instanceof postgres.loaded.DatabaseError;
