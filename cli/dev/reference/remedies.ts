/** Why each error happens and what to do: what a message says of one case, said of all of them. */
import type { ErrorCode } from "../../../runtime/errors.js";

interface Remedy {
  readonly cause: string;
  readonly remedy: string;
}

const option = (whose: string): Remedy => ({
  cause: `${whose}: missing, of a wrong type, out of range, or against another option. The message names the option.`,
  remedy: "Correct the option; the program never starts with one that cannot be used.",
});

export const remedies: Readonly<Record<ErrorCode, Remedy>> = {
  release_unreadable: {
    cause: "The path is no release, the bundle is damaged or another one than its checksum says, or a download failed.",
    remedy: "Check the path or `word@version` with `adbind releases show`; fetch the bundle again.",
  },
  release_ambiguous: {
    cause: "A folder of several releases was given where one is needed.",
    remedy: "Name the release's own folder, or `word@version`.",
  },
  release_invalid: {
    cause: "The manifest or a schema breaks a rule; each finding has file, pointer and rule.",
    remedy: "Run `adbind lint`; have the release mended, or leave broken tools out with `--partial`.",
  },
  output_conflict: {
    cause: "The output folder holds files that adbind did not write, or two releases would be written to one place.",
    remedy: "Choose another `--out`, or move what is there.",
  },
  output_edited: {
    cause: "A generated file differs from what was written.",
    remedy: "Keep what you need of it elsewhere, then generate with `--force`.",
  },
  output_unusable: {
    cause: "Permissions, a full disk, or a file where a folder is to be.",
    remedy: "Mend that, or choose another `--out`. Nothing was half written.",
  },
  output_differs: {
    cause: "`--check` found files that are not what the releases give.",
    remedy: "Generate, and commit the result.",
  },
  schema_missing: {
    cause: "A schema was asked for that the release, or the part of it that was generated, does not have.",
    remedy: "Generate the tool it belongs to, or correct the reference.",
  },
  net_option_invalid: option("An option for outbound requests"),
  database_unreachable: {
    cause: "The server is down, the name or password is wrong, the file cannot be opened, or a connection was cut.",
    remedy:
      "Check the URL and the server. Work that was not committed did not happen; it is tried again by whoever owns it.",
  },
  database_busy: {
    cause: "Another transaction held the row, or the file's only writer, past the time that is waited.",
    remedy:
      "Nothing was written: try again. Look for a transaction left open (`pg_stat_activity`), or a process that writes for long.",
  },
  database_failed: {
    cause: "The disk is full or failing, the file is damaged, or the server gave up in the middle.",
    remedy: "See [the runbook](../runbook.md#a-disk-fills). Nothing of the failed transaction was kept.",
  },
  name_invalid: {
    cause: "A name, an id or a key is longer than the indexes of every database take.",
    remedy: "Use fewer bytes, or a digest of it; the message says which name, and how many it may have.",
  },
  transaction_invalid: {
    cause:
      "What was handed in as a transaction is a pool, has ended, or is of another database, file or schema than the store.",
    remedy:
      "Hand in what your library gives to the work of a transaction, in the store's own database, whose `search_path` finds the store's schema first; or leave it out.",
  },
  store_option_invalid: option("An option of a store"),
  store_missing: {
    cause: "A command or a reader was given a database in which adbind has made nothing.",
    remedy: "Check its name. A receiver, sender, seller or registry makes the store when it starts.",
  },
  store_schema: {
    cause: "The schema is newer than this version can live with, or older and may not be changed by this role.",
    remedy:
      "Run `adbind db migrate` as the owner of the tables, or a version of adbind that knows the schema: [migrations](../migrations.md).",
  },
  store_effect: {
    cause: "An effect on SQLite returned a promise, and its transaction cannot wait.",
    remedy: "Await what is needed before, and keep the effect synchronous.",
  },
  split_invalid: {
    cause:
      "Databases of different sets are given, one under another's name, or a change needs another state of the set.",
    remedy: "Compare the list with `adbind split status`, and do what the message says.",
  },
  split_outdated: {
    cause: "A database was added to the set, and this instance has the list of before.",
    remedy: "Give it the list that `adbind split status` shows, and start it anew; nothing was written meanwhile.",
  },
  split_moving: {
    cause: "Somebody moves the keyspace to another database, and its writers wait.",
    remedy: "Try again in some seconds. Where a move was stopped, `adbind split move` ends it.",
  },
  split_wrong_database: {
    cause: "Rows of a principal were to be written in a transaction of another database of the split than has them.",
    remedy:
      "Begin the transaction in `await store.databaseOf(principal)`; what has moved meanwhile is done again there.",
  },
  split_unverified: {
    cause: "The counts of rows in two databases differ after a copy; the keyspace stays where it was.",
    remedy: "Run `adbind split move` again.",
  },
  receiver_option_invalid: option("An option of a receiver"),
  registration_invalid: {
    cause: "The URL is not public HTTPS, a field breaks its bounds, or the seller refuses what it asks for.",
    remedy: "Correct the field that the message names: [registration](../protocol/webhooks.md#registration).",
  },
  body_not_raw: {
    cause: "The body was parsed before the receiver had it, so that its bytes are gone.",
    remedy: "Mount the receiver before body parsers, or hand it the raw bytes.",
  },
  webhook_refused: {
    cause: "`constructEvent` was given a request that does not verify, or is no event of the registration.",
    remedy: "Answer with the status and headers that the error carries, and believe nothing of it.",
  },
  package_missing: {
    cause: "What was asked for needs a package that an application installs itself: a driver, an SDK, a server.",
    remedy: "Run the `npm install` line of the message; docs/install.md lists what each entry needs.",
  },
  queue_option_invalid: option("An option of a queue or its worker"),
  job_unreadable: {
    cause: "A stored job, or the registration it goes by, was changed by hand, or its secret does not open.",
    remedy: "It is set aside and shown as refused: `adbind outbox show`, then drop it or bring the key back.",
  },
  task_unreadable: {
    cause: "The row of a task was changed by hand: what is kept of it is no JSON, or not what a sender writes.",
    remedy:
      "Put the row back from a backup: changes that were stored with SQL are tried for a day, others are to be made again.",
  },
  queue_unreachable: {
    cause:
      "No majority of the NATS servers that hand events out answers, the way to them is cut, or they refuse what is asked of them.",
    remedy:
      "Nothing is lost: events wait in their database, and go on when two of three servers run. Servers that refuse say why: JetStream has to be on, and one that stands alone wants `replicas: 1`; docs/deliveries-on-nats.md.",
  },
  sender_option_invalid: option("An option of a sender"),
  secret_keys_invalid: {
    cause: "No key to seal secrets with, one that is no 32 bytes, or an id that is there twice.",
    remedy: "Set `ADBIND_SECRET_KEYS_FILE`, or the sender's `secrets`: [webhooks out](../webhooks-out.md).",
  },
  event_invalid: {
    cause: "The status is no arm of the tool, or the data break the schema of the release.",
    remedy: "Send what the release allows; the message has the pointer.",
  },
  endpoint_unknown: {
    cause:
      "An endpoint was to be paused, or moved, that no event is for, and nobody registered: most often its name was mistyped.",
    remedy: "Take its name from `adbind outbox endpoints`; for what will be registered say `ahead`, or `--ahead`.",
  },
  transition_refused: {
    cause: "The task has ended, or goes from one state to one it cannot reach.",
    remedy: "Read the task first: [transitions](../protocol/tasks.md#transitions).",
  },
  dedup_conflict: {
    cause: "The same dedup key was given before with other content.",
    remedy: "Make the key of what makes the event unique.",
  },
  channel_closed: {
    cause: "The media buy's final report was made; nothing follows it.",
    remedy: "Nothing: the buyer reads the state with its next query.",
  },
  seller_option_invalid: option("An option of a seller"),
  task_unknown: {
    cause: "No task has this id for this principal, or it was swept after its retention.",
    remedy: "Use the id that a submitted answer gave.",
  },
  port_late: {
    cause: "A port of the seller, which the error names, had not answered after its `patienceMs`.",
    remedy:
      "See what it waits for, or give the port more time. What it was told it may have done: it is told again under the same key.",
  },
  port_answer_invalid: {
    cause: "A port of the seller answered what cannot be used: figures that are no numbers, a booking without a name.",
    remedy: "Mend the port, which the error names. Nothing was kept of what it said.",
  },
  buyer_option_invalid: option("An option of a buyer"),
  agent_late: {
    cause: "An agent had not answered by the deadline that was given.",
    remedy:
      "Give a longer deadline, or go on without it. The call may still have its effect: repeat it with the same key.",
  },
  feature_missing: {
    cause: "The agent's capabilities do not declare what was asked of it.",
    remedy: "Ask for less, or another agent.",
  },
  suite_unreadable: {
    cause: "The folder is no suite, a document is broken, or it is another release's.",
    remedy: "Give `--suite` the release's own `compliance` folder.",
  },
  agent_unreachable: {
    cause: "The agent under test refused the connection, speaks another transport, or wants credentials.",
    remedy: "Try `adbind tools` and `adbind auth diagnose` with the same URL.",
  },
  signing_key_invalid: {
    cause:
      "The key is of another type than Ed25519 or P-256, is public where a private one is needed, or has no key id.",
    remedy: "Make one with `adbind keys generate`.",
  },
  key_set_invalid: {
    cause: "A set has a kid twice or none, or an entry that is no public key.",
    remedy: "Give every key a kid of its own, and publish no private part.",
  },
  discovery_option_invalid: option("An option of key discovery"),
  signing_option_invalid: option("An option of signing or verifying"),
  target_url_malformed: {
    cause: "The URL has no canonical form, so no signature can name it.",
    remedy: "Give an absolute http or https URL: [target URI](../protocol/signing.md#target-uri).",
  },
  duplicate_key_input: {
    cause: "An object of the body has the same key twice; receivers refuse such a body.",
    remedy: "Serialise from one object, not from text put together.",
  },
  body_not_json: {
    cause: "The body to sign is no JSON.",
    remedy: "Sign the bytes of a JSON text.",
  },
  secret_weak: {
    cause: "A shared secret has fewer than 32 characters, or repeats itself.",
    remedy: "Make it of 32 random bytes; better, sign.",
  },
  webhook_id_invalid: {
    cause: "The id is empty, longer than 255 characters, or holds a full stop or unprintable characters.",
    remedy: "Use 1 to 255 printable ASCII characters without a full stop.",
  },
  legacy_auth_removed: {
    cause: "HMAC or Bearer was asked for under a release that has neither.",
    remedy: "Register without the authentication block: deliveries are signed then.",
  },
  source_asynchronous: {
    cause: "A synchronous verification met keys or nonces that answer with a promise.",
    remedy: "Use the asynchronous function, or sources at hand.",
  },
  registry_option_invalid: option("An option of a registry or its client"),
  registry_unanswered: {
    cause: "A page of a list could not be read; what came before it was given.",
    remedy: "Go on from the last cursor.",
  },
  account_invalid: {
    cause: "The organization, user, member or key does not exist, or exists already.",
    remedy: "List them with `adbind registry orgs`, `users` or `keys`.",
  },
  registry_data_invalid: {
    cause: "A file to import, host or check breaks its format; the message has line or pointer.",
    remedy: "Mend the line; an import goes on where it stood.",
  },
  registry_busy: {
    cause: "Two large expansions are under way, and sixteen wait; what was read for each is in memory.",
    remedy: "Ask again in some seconds, and for fewer at a time.",
  },
  usage: {
    cause: "An argument or option of the command is missing, unknown, or out of range.",
    remedy: "See the command's `--help`, or [the commands](cli.md).",
  },
  file_unusable: {
    cause: "A file that was named is missing, unreadable, or not of its format.",
    remedy: "Correct the path or the file; the message has both.",
  },
  address_unusable: {
    cause: "The port is taken, or the address is not this machine's.",
    remedy: "Choose another `--port` or `--host`.",
  },
  delivery_failed: {
    cause: "`adbind webhook send` had no 2xx.",
    remedy: "See the code: something must listen there; plain http and this machine need `--local`.",
  },
  crawl_refused: {
    cause:
      "The domain was asked for a moment ago, the caller's share is used up, the queue is full, or the domain opted out.",
    remedy: "Wait as long as the answer says, and ask again.",
  },
};
