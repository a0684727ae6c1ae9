/** What tests are called: a name states a fact that can be checked, so that a list of names says what holds. */
import ts from "typescript";
import { type Finding, lineOf, type Rule, type Source } from "./source.js";

/** Fewest words of a statement: "a disk fills" says nothing of what comes of it. */
const FEWEST_WORDS = 4;

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Verbs of statements in the present. A name with another one adds it here. */
const verbs = new Set([
  // Of anything.
  ...words(`is are was were has have had does do did can may must cannot isn't aren't doesn't don't`),
  // Of one thing.
  ...words(`
  accepts acknowledges acts adds agrees allows announces answers applies asks assumes authorizes becomes begins
  believes binds breaks brings bundles buys calls cancels carries catches changes chooses claims closes comes commits
  compares compiles completes costs counts covers crashes crawls creates decides declares decodes defaults delivers
  demands departs depends dereferences dies differs drains drops ends enters equals escapes evaluates exists exits
  expires explains fails fetches fills filters finds fires fits follows forbids forgets forwards frees gains gets gives
  goes grants grows handles hangs hears helps hides holds ignores imports installs keeps kills knows lasts leads learns
  leaves lets lies lists lives loads looks loses makes matters means meets migrates moves narrows needs notices
  offers opens outlives overrides overwrites owns packs parks parses passes pays points previews prints proves
  publishes puts reaches reads rebinds receives reflects refuses rejects releases remembers removes renews repairs
  repeats replaces requires resolves resumes retries returns revives rolls rotates runs saves says sees sells sends
  serves shares shows shuts signs skips sorts speaks spends stands starts stays stops stores survives syncs takes
  tells tests throws touches travels treats tries turns type-checks uses verifies waits wants warns widens wins works
  writes yields
  `),
  // Of several.
  ...words(`
  agree answer ask become begin break carry change come commit compile cost cover decide derive differ do end fail
  find fire follow get give grow hide hold keep know lead leave live load make mean migrate move narrow need pass put
  reach read refuse reject return run say see sell send serve share show stand start stay stop take throw try use
  wait win work write
  `),
]);

/** What a test fills in is one word of its name. */
const FILLED = "\u2026";

/** A name as it is written; undefined where it is a value from elsewhere. */
function nameOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => FILLED + literal.text).join("");
}

/** All of it is filled in: the statements stand where the values come from. */
const isFilledIn = (name: string): boolean => !/[\p{L}\p{N}]/u.test(name);

/** What precedes a colon says of whom or where, as in `sqlite: ...`, where it is filled in. */
const statementOf = (name: string): string => name.replace(/^(?:…|[\w.]+ …|… [\w.]+)\s*:\s*/u, "");

/** What is wrong with a name; undefined where it states a fact. */
function nameFault(name: string): string | undefined {
  if (isFilledIn(name)) return undefined;
  const all = words(statementOf(name)).filter((word) => /[\p{L}\p{N}…]/u.test(word));
  if (all.length < FEWEST_WORDS) return `has fewer than ${FEWEST_WORDS} words`;
  const [, ...rest] = all.map((word) => word.toLowerCase().replaceAll(/^[^\p{L}…]+|[^\p{L}…]+$/gu, ""));
  return rest.some((word) => verbs.has(word)) ? undefined : "says of nothing what it does or is";
}

const isTest = (called: ts.Expression): boolean => /^test(\.only|\.skip)?$/.test(called.getText());

/** Functions that a file declares: a table of tests has their names beside what they are called. */
const declaredIn = (tree: ts.SourceFile): ReadonlySet<string> =>
  new Set(tree.statements.filter(ts.isFunctionDeclaration).map(({ name }) => name?.text ?? ""));

function namesIn({ path, tree }: Source): { name: string; node: ts.Node }[] {
  if (tree === undefined) return [];
  const found: { name: string; node: ts.Node }[] = [];
  const declared = declaredIn(tree);
  const add = (node: ts.Node | undefined): void => {
    const name = nameOf(node);
    if (node !== undefined && name !== undefined) found.push({ name, node });
  };
  const isBody = (node: ts.Node | undefined): boolean =>
    node !== undefined && (ts.isArrowFunction(node) || (ts.isIdentifier(node) && declared.has(node.text)));
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression) && node.arguments.length > 1) add(node.arguments[0]);
    // A table of something else has values of one word.
    if (ts.isArrayLiteralExpression(node) && node.elements.length === 2 && isBody(node.elements[1]))
      if (/\.(test|case)\.ts$/.test(path) && nameOf(node.elements[0])?.includes(" ")) add(node.elements[0]);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Tests' names state facts. */
export const testNamesRule: Rule = (sources) =>
  sources
    .filter(({ path }) => /^(test|templates\/\w+\/test)\//.test(path))
    .flatMap((source) =>
      namesIn(source).flatMap(({ name, node }): Finding[] => {
        const fault = nameFault(name);
        if (fault === undefined) return [];
        const message = `calls a test "${name}", which ${fault}: say what is so, and of what`;
        return [{ key: `${source.path}: ${name}`, file: source.path, line: lineOf(source.tree!, node), message }];
      }),
    );
