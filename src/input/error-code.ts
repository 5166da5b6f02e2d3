/**
 * The machine word of a fault of system, socket or database: the `code` of an error or of the nearest cause that has one; null without. It
 * may be shown where a message may not, since that can hold an address or a number.
 */
export function codeOf(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return null;
}

/** What programs may go by, of the name of an error class: `UnknownCampaignError` is `unknown_campaign`. */
export function codeOfName(name: string): string {
  return name
    .replace(/Error$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase();
}
