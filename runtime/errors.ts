/** Every error adbind throws on purpose: one table, one class. Traffic that is merely bad is a value, never one of these. */

/** Code -> what went wrong, in general terms; docs/reference/errors.md says why and what to do, from cli/dev/reference/remedies.ts. The message of an instance says what, where and what to do. */
export const errorTable = {
  // generator
  release_unreadable: "a release could not be read",
  release_ambiguous: "a path names several releases where one is needed",
  release_invalid: "a release breaks a rule it must keep",
  output_conflict: "the output folder holds something adbind did not write",
  output_edited: "a generated file was edited by hand",
  output_unusable: "the output folder cannot be read or written",
  output_differs: "generated files differ from what the releases give",
  // packages
  package_missing: "a package that an application installs for itself is not there",
  // schemas
  schema_missing: "a schema is not in the release",
  // net
  net_option_invalid: "an option for outbound requests cannot be used",
  // database
  database_unreachable: "a database cannot be reached or opened",
  database_busy: "another writer held the database, or a row of it, for too long",
  database_failed: "a database that was open cannot be read or written any more",
  name_invalid: "a name cannot be part of an index's entry",
  transaction_invalid: "what was given as a transaction is not an open one of this database",
  // store
  store_option_invalid: "a store cannot be opened with these options",
  store_missing: "there is no store where one is to be read or changed",
  store_schema: "a database's schema is not one this version can use",
  store_effect: "an effect cannot run inside the store's transaction",
  // split
  split_invalid: "databases cannot be used as a split, or a split not changed so",
  split_outdated: "an instance does not know every database of its split",
  split_moving: "a keyspace is being moved to another database",
  split_wrong_database: "a transaction is of another database than the one its rows belong into",
  split_unverified: "a keyspace that was copied is not what it was copied from",
  // receiver
  receiver_option_invalid: "an option of a receiver cannot be used",
  registration_invalid: "a registration cannot be used",
  body_not_raw: "a body was handed to a receiver that is not the bytes that came",
  webhook_refused: "a webhook is not to be believed, or not what its registration expects",
  // queue
  queue_option_invalid: "an option of a queue or its worker cannot be used",
  job_unreadable: "a stored job cannot be read",
  task_unreadable: "a stored task cannot be read",
  queue_unreachable: "the servers that jobs are handed out by cannot be used",
  // sender
  sender_option_invalid: "an option of a sender cannot be used",
  secret_keys_invalid: "keys under which secrets are sealed cannot be used",
  event_invalid: "an event is not what its release or its channel allows",
  endpoint_unknown: "there is no such endpoint",
  transition_refused: "a task cannot go from its state to the one asked for",
  dedup_conflict: "a dedup key was used before, for other content",
  channel_closed: "a channel has had its final event",
  // seller
  seller_option_invalid: "an option of a seller cannot be used",
  task_unknown: "there is no such task",
  port_late: "a port of a seller had not answered in time",
  port_answer_invalid: "a port of a seller answered what cannot be used",
  // buyer
  buyer_option_invalid: "an option of a buyer cannot be used",
  agent_late: "an agent had not answered by a deadline",
  feature_missing: "an agent does not declare what is required of it",
  // conformance
  suite_unreadable: "a suite of storyboards could not be read",
  agent_unreachable: "an agent under test could not be asked",
  // signing
  signing_key_invalid: "a signing key cannot be used",
  key_set_invalid: "a set of keys cannot be used",
  discovery_option_invalid: "an option of key discovery cannot be used",
  signing_option_invalid: "an option of signing or verifying cannot be used",
  target_url_malformed: "a URL to sign for has no canonical form",
  duplicate_key_input: "a body to sign has an object with the same key twice",
  body_not_json: "a body to sign is not JSON",
  secret_weak: "a shared secret is too short or too regular",
  webhook_id_invalid: "an id cannot be sent as `webhook-id`",
  legacy_auth_removed: "the release has no HMAC or Bearer webhooks any more",
  source_asynchronous: "a source answered with a promise where none can be awaited",
  // registry
  registry_option_invalid: "an option of a registry cannot be used",
  registry_unanswered: "a registry did not give a page of a list",
  account_invalid: "an organization, a user or a key cannot be made or changed as asked",
  // registry data
  registry_data_invalid: "data given to a registry cannot be used",
  registry_busy: "a registry has as much to do at once as it takes",
  // command
  usage: "the command line is wrong",
  file_unusable: "a file that was named cannot be used",
  address_unusable: "an address cannot be listened on",
  delivery_failed: "an event was not delivered",
  crawl_refused: "a domain cannot be crawled now",
} as const satisfies Record<string, string>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorDetail {
  /** File, URL or option the error is about. */
  where?: string;
  /** What the reader can do. */
  remedy?: string;
  cause?: unknown;
}

/** An error with a stable code; `message` reads `what (where): remedy`. */
export class AdbindError extends Error {
  override readonly name = "AdbindError";
  readonly where: string | undefined;
  readonly remedy: string | undefined;

  constructor(
    readonly code: ErrorCode,
    what: string,
    detail: ErrorDetail = {},
  ) {
    const where = detail.where === undefined ? "" : ` (${detail.where})`;
    const remedy = detail.remedy === undefined ? "" : `: ${detail.remedy}`;
    super(`${what}${where}${remedy}`, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.where = detail.where;
    this.remedy = detail.remedy;
  }
}
