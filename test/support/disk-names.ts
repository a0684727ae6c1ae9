/** Names of files that some disk cannot hold beside each other, or at all. */

const device = /(?:^|[\\/])(?:aux|con|nul|prn|(?:com|lpt)\d)(?:\.[^\\/]*)?$/i;

/** Those that differ from another in case only, are devices of Windows, or end in what it takes away. */
export function notEveryDisks(files: readonly string[]): string[] {
  const seen = new Set<string>();
  return files.filter((file) => {
    const folded = file.toLowerCase();
    const twice = seen.has(folded);
    seen.add(folded);
    return twice || device.test(file) || /[. ]$/.test(file);
  });
}
