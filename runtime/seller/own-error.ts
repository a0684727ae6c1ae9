/** What a caller is told of a fault that is the seller's own: whether waiting helps, and never more than that. */
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { StaleDocument } from "../store/documents.js";
import type { SellerError } from "./types.js";

/** Codes of node's and undici's for what is out of reach at present. */
const OUT_OF_REACH = /^(E(CONN\w+|TIMEDOUT|PIPE|AI_AGAIN|HOSTUNREACH|NETUNREACH|NOTFOUND)|UND_ERR_\w+)$/;
/**
 * SQLSTATEs of a server that restarts, fails over, takes no writes or has nothing left, and of what gave way to others: the seller's
 * database, or a handler's. Here by themselves: what opens databases is a third of a seller that has none.
 */
const PASSING_STATES = /^(08...|53...|57P0.|57014|58...|55P03|25P0[34]|25006|40001|40P01)$/;
/** Told by a server of a statement with parameters too few or too many, and by poolers of whatever keeps them from their server. */
const PROTOCOL_VIOLATION = "08P01";
/** What drivers say, without a code, of a connection that is gone or could not be had. */
const LOST = /connection terminated|is not queryable|timeout exceeded when trying to connect/i;
const passingCodes: ReadonlySet<string> = new Set([
  "database_unreachable",
  "database_busy",
  "database_failed",
  "split_moving",
  "port_late",
]);
/** Causes looked at below an error. */
const DEEPEST = 5;

/** Will it be over by itself? A fault of the program will not. */
function passes(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > DEEPEST) return false;
  if (error instanceof StaleDocument) return true;
  // A transaction that takes no writes was begun on a server that has been demoted, as far as can be told.
  if (error instanceof AdbindError)
    return passingCodes.has(error.code) || (error.code === "transaction_invalid" && passes(error.cause, depth + 1));
  if (error.name === "TimeoutError" || error.name === "AbortError") return true;
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  // Only a server names its routine.
  if (code === PROTOCOL_VIOLATION && routine !== undefined) return false;
  if (LOST.test(error.message)) return true;
  const known = typeof code === "string" && (OUT_OF_REACH.test(code) || PASSING_STATES.test(code));
  return known || passes(error.cause, depth + 1);
}

/** The code of releases for what only the seller's operator can mend. */
const OPERATORS = "CONFIGURATION_ERROR";

/**
 * @param message holds the reference under which the log has the error
 * @returns transient where what failed is out of reach; else terminal, whatever the release says of the code
 */
export function ownError(error: unknown, message: string, { errors }: Release): SellerError {
  if (passes(error)) return { code: "SERVICE_UNAVAILABLE", message };
  const code = Object.hasOwn(errors, OPERATORS) ? OPERATORS : "SERVICE_UNAVAILABLE";
  const suggestion = "tell the seller's operator the reference; repeating the call does not help";
  return { code, message, recovery: "terminal", suggestion };
}
