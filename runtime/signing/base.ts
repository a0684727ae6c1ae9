/** The text that is signed (RFC 9421 section 2.5, as the profile narrows it). */

/**
 * One line per component, then the parameters; LF between the lines, none at the end.
 * @param valueFor value of a component
 * @param params inner list and parameters: the value of `@signature-params`
 */
export function buildSignatureBase(
  components: readonly string[],
  valueFor: (component: string) => string,
  params: string,
): string {
  let base = "";
  for (const component of components) base += `"${component}": ${valueFor(component)}\n`;
  return `${base}"@signature-params": ${params}`;
}

/**
 * What a value of the base may hold. Anything else could forge a line of it.
 */
export const isBaseValue = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);
