/** The page of commands, from what they declare of themselves. */
import { type Argument, Command, type Option } from "commander";
import { commands } from "../../commands.js";
import { asMarkdown, type ReferencePage, referencePage, tableOf } from "./page.js";

const defaultOf = (value: unknown): string =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0) ? "" : `\`${String(value)}\``;

const optionRow = ({ flags, description, defaultValue, defaultValueDescription, argChoices }: Option): string[] => [
  `\`${flags}\``,
  asMarkdown(argChoices === undefined ? description : `${description} (${argChoices.join(", ")})`, "../"),
  defaultValueDescription ?? defaultOf(defaultValue),
];

const argumentRow = (argument: Argument): string[] => {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return [
    `\`${argument.required ? `<${name}>` : `[${name}]`}\``,
    asMarkdown(argument.description, "../"),
    defaultOf(argument.defaultValue),
  ];
};

function sectionsOf(command: Command, parents: readonly string[]): string[] {
  const names = [...parents, command.name()];
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)];
  const used = command.registeredArguments.length === 0 && command.commands.length > 0 ? " <command>" : "";
  const lines = [`${"#".repeat(names.length)} ${names.join(" ")}`, "", asMarkdown(command.description(), "../"), ""];
  if (rows.length > 0 || command.commands.length === 0)
    lines.push(`    ${names.join(" ")}${used} ${command.usage()}`.trimEnd(), "");
  if (rows.length > 0) lines.push(...tableOf(["", "what it is", "default"], rows), "");
  return [...lines, ...command.commands.flatMap((inner) => sectionsOf(inner, names))];
}

/** The page of commands. Every command's module is loaded for it. */
export async function commandReference(): Promise<ReferencePage> {
  const sections: string[] = [];
  for (const [name, { help, load }] of Object.entries(commands)) {
    const command = new Command(name).description(help);
    (await load()).register(command);
    sections.push(...sectionsOf(command, ["adbind"]));
  }
  return referencePage("cli.md", "Commands", [
    "Every command has `--help`. Exit codes: 0 done and nothing wrong; 1 it failed, or found what it was asked to look for; 2 the",
    "command line is wrong. A failure is a line on stderr; with `--json` it is an object on stdout too.",
    "",
    ...tableOf(
      ["environment", ""],
      [
        ["`ADBIND_STORE`", "the store of commands that take `--store`, so that no password shows among the processes"],
        ["`ADBIND_DEBUG`", "with 1, a failure prints its stack"],
      ],
    ),
    "",
    ...sections,
  ]);
}
