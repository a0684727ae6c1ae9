/** The release that ../program.ts is checked against in this repository; the bench puts a generated folder in its place. */
export * from "../../../generated/3.1.0/index.js";
