/** Addresses of the page. */
export function campaignPath(campaignId: string, more = ''): string {
  return `/campaigns/${encodeURIComponent(campaignId)}${more}`;
}

/** Rows of a campaign, by what they wait for, how they ended, or what is searched. */
export function rowsPath(
  campaignId: string,
  query: Partial<Record<'waiting' | 'state' | 'outcome' | 'search' | 'after', string | number>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString();
  return campaignPath(campaignId, `/rows${text === '' ? '' : `?${text}`}`);
}
