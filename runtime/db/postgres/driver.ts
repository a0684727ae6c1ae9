/** The driver of PostgreSQL. */
import type pg from "pg";
import { driver } from "../driver.js";

export const postgres = driver<typeof pg>("pg", "a PostgreSQL database");

/** Is an error one that the server answered with? */
export const isDatabaseError = (error: unknown): error is pg.DatabaseError =>
  postgres.loaded !== undefined && error instanceof postgres.loaded.DatabaseError;
