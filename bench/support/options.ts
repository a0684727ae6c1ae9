/** Which parts of a bench the command line asks for. */

/** @returns whether `--only=a,b` names a part; every part is asked for without it */
export function partsOf(args: readonly string[]): (part: string) => boolean {
  const only = args
    .find((arg) => arg.startsWith("--only="))
    ?.slice("--only=".length)
    .split(",");
  return (part) => only === undefined || only.includes(part);
}

/** The number of `--name=N`. */
export const numberOf = (args: readonly string[], name: string): number | undefined => {
  const text = args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1];
  return text === undefined ? undefined : Number(text);
};
