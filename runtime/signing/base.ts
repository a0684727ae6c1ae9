/** The text that is signed (RFC 9421 section 2.5, as the profile narrows it). */

export interface BaseParts {
  readonly components: readonly string[];
  /** Value of each component. */
  readonly valueFor: (component: string) => string;
  /** Inner list and parameters: the value of `@signature-params`. */
  readonly params: string;
}

/** One line per component, then the parameters; LF between the lines, none at the end. */
export function buildSignatureBase({ components, valueFor, params }: BaseParts): string {
  let base = "";
  for (const component of components) base += `"${component}": ${valueFor(component)}\n`;
  return `${base}"@signature-params": ${params}`;
}

/**
 * What a value of the base may hold. Anything else could forge a line of it.
 */
export const isBaseValue = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);
