import { runScenario } from "../domain/controller/controller.js";
import type { Handler } from "../handler.js";
import { scenarios } from "../scenarios.js";

/** Puts resources into states on command, so that a client can be tested against this seller. */
export const complyTestController: Handler<"comply_test_controller"> = (request, call) =>
  call.answer(runScenario(scenarios, call, request.scenario, { ...request.params }));
