/** What emitted imports end in: `ts` for node's type stripping, `none` for bundlers that resolve as TypeScript does. */
export const importExtensions = ["js", "ts", "none"] as const;

export type ImportExtension = (typeof importExtensions)[number];

/** @returns what is put after a path to make an import of it */
export const importSuffix = (extension: ImportExtension): string => (extension === "none" ? "" : `.${extension}`);
