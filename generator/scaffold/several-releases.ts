/** What a project of several releases says otherwise than one of a single release. */

/** A name of a release that TypeScript takes: `v3_2_0_beta_4`. */
const constantOf = (version: string): string => `v${version.replaceAll(/\W/g, "_")}`;

/**
 * `src/seller.ts` imports each release's bindings, and gives the further ones as `releases`.
 * @param also versions of the further releases, newest first
 */
export function speakingSeveral(text: string, also: readonly string[] = []): string {
  if (also.length === 0) return text;
  const imports = [...also]
    .sort()
    .map((version) => `import { release as ${constantOf(version)} } from "#bindings/${version}";\n`);
  const list = `/** Served beside it: each call is answered in its caller's release, by the same ports and from the same store. */
export const releases = [${also.map(constantOf).join(", ")}] as const;\n\n`;
  return text
    .replace('from "#bindings";\n', (line) => line + imports.join(""))
    .replace("/** Ports that are left out", (line) => list + line)
    .replace(
      /^type Settings = Omit<BehavingSellerOptions<typeof release>, (.*)>;$/m,
      (_, members: string) => `type Options = BehavingSellerOptions<typeof release, (typeof releases)[number]>;
type Settings = Omit<Options, "releases" | ${members}>;`,
    )
    .replace("    release,\n", "    release,\n    releases,\n");
}

/**
 * `test/seller.test.ts` asks every tool in each release; storyboards are those of the newest.
 * @param also versions of the further releases, newest first
 */
export function testingSeveral(text: string, also: readonly string[] = []): string {
  if (also.length === 0) return text;
  const asked = /^test\("every tool of what it claims answers", ([\s\S]*?)^\}\);$/m;
  return text
    .replace("import { openMySeller, specialisms }", "import { openMySeller, releases, specialisms }")
    .replace(asked, (_, body: string) => {
      const inside = body.replace("release, specialisms,", "release: served, specialisms: claimed,");
      const lines = [
        "for (const served of [release, ...releases]) {",
        "  const claimed = specialisms.filter((id) => Object.hasOwn(served.specialisms, id));",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: of the file that is written
        "  test(`every tool of what it claims answers in ${served.version}`, " +
          inside.replaceAll(/^(?=.)/gm, "  ").trimStart(),
      ];
      return `${lines.join("\n")}  });\n}`;
    });
}
