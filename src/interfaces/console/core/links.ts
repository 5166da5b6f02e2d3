import { html, type Html } from '../../../presentation/html/html.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { may, type ViewRequest } from './view.ts';

/** Omits empty parameters. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString();
  return text === '' ? path : `${path}?${text}`;
}

export function campaignPath(campaignId: string, more = ''): string {
  return `/campaigns/${encodeURIComponent(campaignId)}${more}`;
}

/** Rows by waiting rule or outcome. A search may be a number, so it is in no address. */
export function rowsPath(
  campaignId: string,
  query: Partial<Record<'waiting' | 'state' | 'outcome' | 'result' | 'after' | 'sort' | 'columns' | 'person', string | number>> = {},
): string {
  return withQuery(campaignPath(campaignId, '/rows'), query);
}

export function fixPath(campaignId: string, after?: number): string {
  return withQuery(campaignPath(campaignId, '/fix'), { after });
}

export function rowPath(campaignId: string, row: number, more = ''): string {
  return campaignPath(campaignId, `/rows/${row}${more}`);
}

export function callPath(campaignId: string, row: number, call: number, more = ''): string {
  return rowPath(campaignId, row, `/calls/${call}${more}`);
}

/** Paged by index: a cursor would put a phone number in the address. */
export function entriesPath({ kind = 'all', page = 1 }: { kind?: string; page?: number }): string {
  return withQuery('/do-not-call', { kind: kind === 'all' ? undefined : kind, page: page === 1 ? undefined : page });
}

export function webhookPath(webhookId: string, more = ''): string {
  return `/webhooks/${encodeURIComponent(webhookId)}${more}`;
}

export function schedulePath(campaignId: string, more = ''): string {
  return `/schedules/${encodeURIComponent(campaignId)}${more}`;
}

const views = [
  ['overview', '', 'Overview'],
  ['rows', '/rows', 'People'],
  ['callbacks', '/callbacks', 'Call backs'],
  ['figures', '/figures', 'Figures'],
  ['events', '/events', 'Activity'],
  ['results', '/results', 'Results'],
] as const;

export function campaignNav({ campaignId, rowsTotal }: Pick<Campaign, 'campaignId' | 'rowsTotal'>, here: (typeof views)[number][0]): Html {
  return html`<nav class="tabs" aria-label="Campaign">
    ${views.map(
      ([name, path, words]) =>
        html`<a href="${campaignPath(campaignId, path)}" ${name === here ? html`aria-current="page"` : null}
          >${words}${name === 'rows' ? html` <span class="count">${rowsTotal.toLocaleString('en')}</span>` : null}</a
        > `,
    )}
  </nav>`;
}

export const examplePath = '/example';

export function tokenPath(tokenId: string, more = ''): string {
  return `/access/${encodeURIComponent(tokenId)}${more}`;
}

/** Link to the example, if there is a sandbox. */
export function exampleLine(request: ViewRequest): Html | null {
  if (request.context.quickenSandbox === undefined || !may(request, 'operate')) return null;
  return html`<p class="soft">No list at hand? <a href="${examplePath}">Try the example</a>: 300 made-up people answer in a sandbox.</p>`;
}
