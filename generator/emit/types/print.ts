/** Declarations as the type compiler gives them -> text as a person would write it, and the names it uses. */
import { parse } from "@babel/parser";

/** Columns a line may have before a union is broken over lines. */
const WIDTH = 110;

const indent = (text: string): string => text.replace(/\n(?=.)/g, "\n  ");

export interface Declaration {
  name: string;
  text: string;
  /** Types it refers to. */
  uses: Set<string>;
}

type Statement = ReturnType<typeof parse>["program"]["body"][number];
type Alias = Extract<Statement, { type: "TSTypeAliasDeclaration" }>;
type Interface = Extract<Statement, { type: "TSInterfaceDeclaration" }>;
type TypeNode = Alias["typeAnnotation"];
type Member = Interface["body"]["body"][number];

/** Doc lines of a node, less the tags that repeat the type. */
const docOf = ({ leadingComments }: Statement | Member): string[] =>
  (leadingComments ?? [])
    .filter(({ type, value }) => type === "CommentBlock" && value.startsWith("*"))
    .flatMap(({ value }) => value.slice(1).split("\n"))
    .map((line) => line.replace(/^\s*\*?\s?/, "").trim())
    .filter((line) => line !== "" && !/^@(minItems|maxItems)\b/.test(line));

const comment = (lines: readonly string[]): string => {
  if (lines.length === 0) return "";
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
};

class Printer {
  readonly uses = new Set<string>();

  constructor(private readonly text: string) {}

  type(node: TypeNode): string {
    switch (node.type) {
      case "TSParenthesizedType":
        return this.type(node.typeAnnotation);
      case "TSUnionType":
        return this.joined(node.types, " | ");
      case "TSIntersectionType":
        return this.joined(node.types, " & ");
      case "TSArrayType":
        return `${this.element(node.elementType)}[]`;
      case "TSTupleType":
        return `[${node.elementTypes.map((one) => this.type(one as TypeNode)).join(", ")}]`;
      case "TSRestType":
        return `...${this.type(node.typeAnnotation as TypeNode)}`;
      case "TSTypeLiteral":
        return `{${indent(this.members(node.members))}\n}`;
      case "TSTypeReference": {
        const name = this.source(node);
        // A type with arguments is one of TypeScript's own.
        if (!node.typeArguments) this.uses.add(name);
        return name;
      }
      default:
        return this.source(node);
    }
  }

  members(members: readonly Member[]): string {
    return members.map((member) => `\n${this.member(member)}`).join("");
  }

  private source({ start, end }: { start?: number | null; end?: number | null }): string {
    return this.text.slice(start!, end!);
  }

  private member(member: Member): string {
    const doc = comment(docOf(member));
    if (member.type === "TSPropertySignature") {
      const type = this.type(member.typeAnnotation!.typeAnnotation);
      return `${doc}${this.source(member.key)}${member.optional ? "?" : ""}: ${type};`.replace(": \n", ":\n");
    }
    if (member.type === "TSIndexSignature")
      return `${doc}[${this.source(member.parameters[0]!)}]: ${this.type(member.typeAnnotation!.typeAnnotation)};`;
    throw new Error(`no way to print ${member.type}`);
  }

  private operand(node: TypeNode): string {
    let inner = node;
    while (inner.type === "TSParenthesizedType") inner = inner.typeAnnotation;
    const text = this.type(inner);
    return inner.type === "TSUnionType" || inner.type === "TSIntersectionType" ? `(${text})` : text;
  }

  /** Not every parser takes `-1[]`. */
  private element(node: TypeNode): string {
    const text = this.operand(node);
    return text.startsWith("-") ? `(${text})` : text;
  }

  private joined(types: readonly TypeNode[], by: " | " | " & "): string {
    const parts = types.map((one) => this.operand(one));
    const line = parts.join(by);
    const mark = by.trim();
    return line.length <= WIDTH && !line.includes("\n")
      ? line
      : indent(parts.map((part) => `\n${mark} ${part}`).join(""));
  }
}

/** Parses what the type compiler gave, and prints every declaration. `label` gives the last doc line of each. */
export function printDeclarations(text: string, label: (name: string) => string | undefined): Declaration[] {
  return parse(text, { sourceType: "module", plugins: ["typescript"] }).program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : undefined;
    if (declared?.type !== "TSTypeAliasDeclaration" && declared?.type !== "TSInterfaceDeclaration") return [];
    const { name } = declared.id;
    const from = label(name);
    if (from === undefined) return [];
    const printer = new Printer(text);
    const doc = comment([...docOf(statement), from]);
    const body =
      declared.type === "TSTypeAliasDeclaration"
        ? `export type ${name} = ${printer.type(declared.typeAnnotation)};`
        : `export interface ${name} {${indent(printer.members(declared.body.body))}\n}`;
    printer.uses.delete(name);
    return [{ name, text: doc + body.replace(/= \n/, "=\n"), uses: printer.uses }];
  });
}
