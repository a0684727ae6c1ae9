/** Indexes by which a move finds rows, and nobody else does: made when a database becomes one of several. */
import type { SplitKind } from "./placement.js";

export const indexesOf: Readonly<Record<SplitKind, readonly string[]>> = {
  sender: [],
  principal: [
    "create index if not exists adbind_sent_tasks_principal on adbind_sent_tasks (principal, task_id)",
    "create index if not exists adbind_channels_principal on adbind_channels (principal, resource, kind, subscriber)",
    "create index if not exists adbind_sender_secrets_principal on adbind_sender_secrets (principal, registration)",
    "create index if not exists adbind_seller_tasks_owner on adbind_seller_tasks (principal, task_id)",
    "create index if not exists adbind_documents_owner on adbind_documents (owner, collection, id)",
    "create index if not exists adbind_documents_owner_order on adbind_documents (owner, position)",
  ],
};
