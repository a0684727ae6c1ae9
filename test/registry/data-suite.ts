/** A suite whose every test has a registry's data on an empty database, and a clock that it moves. */
import { suite, type uvu } from "uvu";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { type Engine, NOW } from "./data-fixture.js";

export const DAY_MS = 86_400_000;

export function dataSuite(engine: Engine): uvu.Test<{ data: RegistryData; clock: { at: number } }> {
  const test = suite<{ data: RegistryData; clock: { at: number } }>(`registry data on ${engine.name}`);
  test.before.each(async (context) => {
    const clock = { at: NOW };
    context.clock = clock;
    context.data = createRegistryData(await engine.open(), {
      now: () => clock.at,
      publicUrl: "https://registry.example/",
    });
  });
  return test;
}
