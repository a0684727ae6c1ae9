/** For tests of what receives webhooks: signed events, named faults, a hostile network, a receiver on a store of its own. */

export { type TemporaryStore, temporaryStore } from "../store/index.js";
export {
  type FaultContext,
  type FaultName,
  faultAnswered,
  faultNames,
  isFaultName,
  type TestFault,
  testFaults,
} from "./faults.js";
export { freePort } from "./free-port.js";
export { createTestKey, type TestKey } from "./key.js";
export {
  createTestReceiver,
  TEST_NOW_MS,
  type TestReceiver,
  type TestReceiverOptions,
} from "./receiver.js";
export {
  createSellerDouble,
  type Delivered,
  type NetworkFaults,
  type SellerDoubleOptions,
  type SellerReport,
  type TestAnswer,
} from "./seller.js";
export { type SignTestOptions, signTestWebhook, type TestWebhook, testEvent } from "./sign.js";
