/** The page of configuration: files by their schemas, parts by the types of their options. */
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { declaredMembers, docstringOf } from "./declaration.js";
import { exportsOf, type ParsedSources, parsedSources } from "./exports.js";
import { asMarkdown, type ReferencePage, referencePage, tableOf } from "./page.js";

interface Property {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Property>>;
  readonly items?: Property;
}

const rowsOf = (properties: Readonly<Record<string, Property>>, prefix = ""): string[][] =>
  Object.entries(properties).flatMap(([name, property]) => [
    [
      `\`${prefix}${name}\``,
      property.enum === undefined ? (property.type ?? "") : property.enum.map((one) => `\`${String(one)}\``).join(", "),
      property.default === undefined ? "" : `\`${JSON.stringify(property.default)}\``,
      asMarkdown(property.description ?? "", "../"),
    ],
    ...rowsOf(property.properties ?? property.items?.properties ?? {}, `${prefix}${name}.`),
  ]);

function fileSection(root: string, file: string): string[] {
  const schema = JSON.parse(readFileSync(path.join(root, file), "utf8")) as Property & { title?: string };
  return [
    `## ${schema.title ?? file}`,
    "",
    schema.description ?? "",
    "",
    ...tableOf(["member", "type", "default", "what it is"], rowsOf(schema.properties ?? {})),
    "",
    `Its schema is \`${file}\`, for editors.`,
    "",
  ];
}

/** Options of each part: title, the entry that has the type, the type. */
const parts = [
  ["Receiver", "runtime/receiver/index.ts", "ReceiverOptions"],
  ["Sender", "runtime/sender/index.ts", "SenderOptions"],
  ["Seller", "runtime/seller/index.ts", "SellerOptions"],
  ["Behaving seller", "runtime/behaviours/index.ts", "BehavingSellerOptions"],
  ["Buyer", "runtime/buyer/index.ts", "BuyerOptions"],
  ["Registry", "runtime/registry/index.ts", "RegistryOptions"],
  ["PostgreSQL", "runtime/db/index.ts", "PostgresOptions"],
  ["SQLite", "runtime/db/index.ts", "SqliteOptions"],
  ["Outbound requests", "runtime/net/index.ts", "NetPolicyOptions"],
] as const;

function partSection(sources: ParsedSources, [title, entry, name]: (typeof parts)[number]): string[] {
  const found = exportsOf(sources, entry).find((one) => one.name === name);
  const [node] = found?.nodes ?? [];
  if (found === undefined || node === undefined) throw new Error(`${entry} exports no ${name}`);
  const inherited = ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []).map((one) => one.getText()) : [];
  const rows = declaredMembers(node).map((member) => [
    `\`${member.name}\``,
    `\`${member.type.length > 120 ? `${member.type.slice(0, 119)}…` : member.type}\``,
    asMarkdown(member.docstring?.text ?? "", "../"),
  ]);
  return [
    `## ${title}`,
    "",
    `\`${name}\`${inherited.length === 0 ? "" : ` (${inherited.join(", ")})`}. ${docstringOf(found.nodes)?.text ?? ""}`.trim(),
    "",
    ...tableOf(["option", "type", "what it is"], rows),
    "",
  ];
}

export function configurationReference(root: string): ReferencePage {
  const sources = parsedSources(root);
  return referencePage("configuration.md", "Configuration", [
    "What an option of a part is wrong about is told when it is made, all of it at once. The registry's flags and variables are on",
    "[a page of their own](../registry-configuration.md), the commands' options in [the commands](cli.md).",
    "",
    ...["## Environment", ""],
    ...tableOf(
      ["variable", "what it is"],
      [
        ["`ADBIND_STORE`", "store of commands and of scaffolded agents: `sqlite:<path>` or `postgres://…`"],
        [
          "`ADBIND_SECRET_KEYS_FILE`",
          "file of the keys that secrets are sealed with, or `ADBIND_SECRET_KEYS` with its content",
        ],
        ["`ADBIND_OUTBOX_TOKEN`", "bearer token of `adbind outbox serve`"],
        ["`ADBIND_AGENT_<NAME>`, `ADBIND_AGENT_<NAME>_TOKEN`", "URL and token of an agent that commands call by name"],
        ["`ADBIND_SOURCES`", "where `word@version` is looked up"],
        ["`ADBIND_REGISTRY_*`", "[the registry](../registry-configuration.md)"],
        ["`ADBIND_DEBUG`", "with 1, a failure prints its stack"],
        ["`OTEL_EXPORTER_OTLP_ENDPOINT`", "where the registry's traces go"],
      ],
    ),
    "",
    ...fileSection(root, "adbind.config.schema.json"),
    ...fileSection(root, "adbind.diff.schema.json"),
    ...parts.flatMap((part) => partSection(sources, part)),
  ]);
}
