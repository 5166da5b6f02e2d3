/** A hook as people may see it: its setting and its host. Path, query and what stands before the host may be secrets. */
export function hookPlace(setting: 'pre_dial' | 'on_completion', url: string): string {
  return `${setting}.url at ${new URL(url).host}`;
}
