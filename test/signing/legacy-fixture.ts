/** For tests of the legacy schemes: options without their warning. */
export const quiet = { onDeprecated: () => undefined };
