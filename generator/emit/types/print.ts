/** Declarations as the type compiler gives them -> text as a person would write it, and the names it uses. */
import { ts } from "ts-morph";

/** Columns a line may have before a union is broken over lines. */
const WIDTH = 110;

const indent = (text: string): string => text.replace(/\n(?=.)/g, "\n  ");

export interface Declaration {
  name: string;
  text: string;
  /** Types it refers to. */
  uses: Set<string>;
}

/** Doc lines of a node, less the tags that repeat the type. */
function docOf(node: ts.Node, source: ts.SourceFile): string[] {
  const comments = ts.getLeadingCommentRanges(source.text, node.pos) ?? [];
  return comments
    .filter(({ pos }) => source.text.startsWith("/**", pos))
    .flatMap(({ pos, end }) => source.text.slice(pos + 3, end - 2).split("\n"))
    .map((line) => line.replace(/^\s*\*?\s?/, "").trim())
    .filter((line) => line !== "" && !/^@(minItems|maxItems)\b/.test(line));
}

const comment = (lines: readonly string[]): string => {
  if (lines.length === 0) return "";
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
};

class Printer {
  readonly uses = new Set<string>();

  constructor(private readonly source: ts.SourceFile) {}

  type(node: ts.TypeNode): string {
    if (ts.isParenthesizedTypeNode(node)) return this.type(node.type);
    if (ts.isUnionTypeNode(node)) return this.joined(node.types, " | ");
    if (ts.isIntersectionTypeNode(node)) return this.joined(node.types, " & ");
    if (ts.isArrayTypeNode(node)) return `${this.operand(node.elementType)}[]`;
    if (ts.isTupleTypeNode(node)) return `[${node.elements.map((one) => this.type(one as ts.TypeNode)).join(", ")}]`;
    if (ts.isRestTypeNode(node)) return `...${this.type(node.type)}`;
    if (ts.isTypeLiteralNode(node)) return `{${indent(this.members(node.members))}\n}`;
    if (ts.isTypeReferenceNode(node)) {
      // A type with arguments is one of TypeScript's own.
      if (node.typeArguments !== undefined) return node.getText(this.source);
      const name = node.typeName.getText(this.source);
      this.uses.add(name);
      return name;
    }
    return node.getText(this.source);
  }

  members(members: readonly ts.TypeElement[]): string {
    return members.map((member) => `\n${this.member(member)}`).join("");
  }

  private member(member: ts.TypeElement): string {
    const doc = comment(docOf(member, this.source));
    if (ts.isPropertySignature(member)) {
      return `${doc}${member.name.getText(this.source)}${member.questionToken ? "?" : ""}: ${this.type(member.type!)};`.replace(
        ": \n",
        ":\n",
      );
    }
    if (ts.isIndexSignatureDeclaration(member)) {
      return `${doc}[${member.parameters[0]!.getText(this.source)}]: ${this.type(member.type)};`;
    }
    throw new Error(`no way to print ${ts.SyntaxKind[member.kind]}`);
  }

  private operand(node: ts.TypeNode): string {
    let inner = node;
    while (ts.isParenthesizedTypeNode(inner)) inner = inner.type;
    const text = this.type(inner);
    return ts.isUnionTypeNode(inner) || ts.isIntersectionTypeNode(inner) ? `(${text})` : text;
  }

  private joined(types: readonly ts.TypeNode[], by: " | " | " & "): string {
    const parts = types.map((one) => this.operand(one));
    const line = parts.join(by);
    const mark = by.trim();
    return line.length <= WIDTH && !line.includes("\n")
      ? line
      : indent(parts.map((part) => `\n${mark} ${part}`).join(""));
  }
}

/** Prints every declaration of a source file. `label` gives the last doc line of each. */
export function printDeclarations(source: ts.SourceFile, label: (name: string) => string | undefined): Declaration[] {
  return source.statements.flatMap((statement) => {
    const isAlias = ts.isTypeAliasDeclaration(statement);
    if (!isAlias && !ts.isInterfaceDeclaration(statement)) return [];
    const name = statement.name.text;
    const from = label(name);
    if (from === undefined) return [];
    const printer = new Printer(source);
    const doc = comment([...docOf(statement, source), from]);
    const body = isAlias
      ? `export type ${name} = ${printer.type(statement.type)};`
      : `export interface ${name} {${indent(printer.members([...statement.members]))}\n}`;
    printer.uses.delete(name);
    return [{ name, text: doc + body.replace(/= \n/, "=\n"), uses: printer.uses }];
  });
}
