import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import { ended, sessionEnded, sessions } from "./sessions.js";

/** Ends of sessions that a test wants to see. */
export const conversationScenarios: Scenarios = {
  async force_session_status(params, call) {
    const id = textParam(params, "session_id");
    const status = textParam(params, "status");
    if (status !== "complete" && status !== "terminated")
      throw new ScenarioError("INVALID_PARAMS", "params.status must be complete or terminated");
    const session = await sessions.get(call, call.principal, id);
    if (session === undefined) throw new ScenarioError("NOT_FOUND", `no session ${id}`);
    if (sessionEnded(session))
      throw new ScenarioError("INVALID_TRANSITION", `the session is ${session.state} already`, session.state);
    sessions.put(call, call.principal, id, ended(session, status));
    return { previous_state: session.state, current_state: status };
  },
};
