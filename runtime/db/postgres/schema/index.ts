/** The texts of every step of the schema. */
import { schemaOf } from "../../schema.js";
import { receiver } from "./0001-receiver.js";
import { sender } from "./0002-sender.js";
import { registry } from "./0003-registry.js";
import { registryAccounts } from "./0004-registry-access.js";
import { registryCrawl } from "./0005-registry-crawl.js";
import { seller } from "./0006-seller.js";
import { senderPlaces } from "./0007-places.js";
import { registryFeed } from "./0008-registry-feed.js";
import { documents } from "./0009-documents.js";
import { registryLists } from "./0010-registry-lists.js";
import { registryReports } from "./0011-registry-reports.js";
import { inboxTasks } from "./0012-inbox-tasks.js";
import { registryPages } from "./0013-registry-pages.js";
import { registryChanges } from "./0014-registry-changes.js";
import { split } from "./0015-split.js";
import { callers } from "./0016-callers.js";
import { functions } from "./0017-functions.js";
import { attemptedJobs } from "./0018-attempted-jobs.js";
import { resumedEndpoints } from "./0019-resumed-endpoints.js";
import { nextGo } from "./0020-next-go.js";
import { openChannels } from "./0021-open-channels.js";
import { namedWakes } from "./0022-named-wakes.js";
import { serverClock } from "./0023-server-clock.js";
import { keptSince } from "./0024-kept-since.js";
import { anySession } from "./0025-any-session.js";
import { heldTasks } from "./0026-held-tasks.js";
import { taskOperations } from "./0027-task-operations.js";
import { propertyPlaces } from "./0028-property-places.js";

export const schema = schemaOf({
  receiver,
  sender,
  registry,
  "registry-access": registryAccounts,
  "registry-crawl": registryCrawl,
  seller,
  places: senderPlaces,
  "registry-feed": registryFeed,
  documents,
  "registry-lists": registryLists,
  "registry-reports": registryReports,
  "inbox-tasks": inboxTasks,
  "registry-pages": registryPages,
  "registry-changes": registryChanges,
  split,
  callers,
  functions,
  "attempted-jobs": attemptedJobs,
  "resumed-endpoints": resumedEndpoints,
  "next-go": nextGo,
  "open-channels": openChannels,
  "named-wakes": namedWakes,
  "server-clock": serverClock,
  "kept-since": keptSince,
  "any-session": anySession,
  "held-tasks": heldTasks,
  "task-operations": taskOperations,
  "property-places": propertyPlaces,
});
