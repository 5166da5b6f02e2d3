import { type OutcomeTone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { capital, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { cannotOutcomes, outcomeOf, outcomes, type Outcome } from '../../../rules/outcome.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { reasonText, waitingText } from '../../../presentation/words/causes.ts';
import { chip, chips, searchForm } from '../core/tools.ts';
import { rowsPath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';
import { peoplePath, columnsOf, fieldsOf, type PeopleQuery } from './asked.ts';

interface Chip {
  words: string;
  tone?: OutcomeTone;
  people: number;
  asks: Pick<PeopleQuery, 'state' | 'outcome'>;
}

function chipsOf({ outcomes: counts, open, waiting, total }: CampaignStatus): Chip[] {
  const of = (outcome: Outcome): number => counts[outcome] ?? 0;
  return [
    { words: 'All', people: total, asks: { state: '', outcome: '' } },
    ...outcomes
      .filter((outcome) => !cannotOutcomes.includes(outcome))
      .map((outcome): Chip => ({
        words: outcomeOf[outcome].word,
        tone: outcomeOf[outcome].tone,
        people: of(outcome),
        asks: { state: '', outcome },
      })),
    { words: 'Calling', tone: 'calling', people: open, asks: { state: 'open', outcome: '' } },
    { words: 'Waiting', tone: 'waiting', people: waiting, asks: { state: 'waiting', outcome: '' } },
    {
      words: 'Cannot be called',
      tone: 'cannot',
      people: cannotOutcomes.reduce((sum, each) => sum + of(each), 0),
      asks: { state: '', outcome: 'cannot' },
    },
  ];
}

/** Status filters with at least one person. */
export function statusChips(campaign: Campaign, query: PeopleQuery, status: CampaignStatus): Html {
  const isHere = ({ state, outcome }: Chip['asks']): boolean =>
    state === query.state && outcome === query.outcome && query.search === '' && query.result === '';
  const shown = chipsOf(status).filter(({ people, asks, tone }) => tone === undefined || people > 0 || isHere(asks));
  const links = shown.map(({ words, tone, people, asks }) => {
    const order = query.sort.by === 'next' ? ({ sort: { by: 'row' } } as const) : {};
    const path = peoplePath(campaign, query, { ...asks, waiting: '', result: '', search: '', ...order });
    return chip(path, [tone === undefined ? null : html`<i class="dot ${tone}"></i>`, words], people, isHere(asks));
  });
  return html`<div class="tools">${chips('Filter by status', links)}</div>`;
}

/** Filters by talk result, if the campaign has such rules. */
export function resultChips(campaign: Campaign, query: PeopleQuery, { results }: CampaignStatus): HtmlValue {
  const shown = Object.entries(results).toSorted(([, one], [, other]) => other - one);
  if (campaign.rules.results === undefined || shown.length === 0) return null;
  const links = shown.map(([result, talks]) => {
    const isHere = query.result === result;
    const path = peoplePath(campaign, query, { state: '', outcome: '', waiting: '', search: '', result: isHere ? '' : result });
    return chip(path, capital(reasonText(result)), talks, isHere);
  });
  return html`<div class="tools">${chips('Filter by what the talk came to', links)}</div>`;
}

/** Number of matching people, if known without counting. */
export function countMatching(
  { state, outcome, waiting, result, search, sort }: PeopleQuery,
  status: CampaignStatus,
  groups: readonly WaitingGroup[],
): number | null {
  if (search !== '' || result !== '') return null;
  if (waiting !== '') return groups.find(({ rule }) => rule === waiting)?.rows ?? null;
  if (sort.by === 'next') return status.waiting;
  if (sort.by === 'last' && state === '' && outcome === '') return null;
  return chipsOf(status).find(({ asks }) => asks.state === state && asks.outcome === outcome)?.people ?? null;
}

export function tools(
  request: ViewRequest,
  campaign: Campaign,
  { asked, waiting }: { asked: PeopleQuery; waiting: readonly WaitingGroup[] },
): Html {
  const everywhere = may(request, 'operate');
  const what = everywhere ? 'ID, row, at least 4 digits of a number, or what stands in a cell' : 'ID or row';
  const form = {
    id: 'rows',
    path: rowsPath(campaign.campaignId),
    label: `Search by ${what}`,
    placeholder: everywhere ? 'ID, #row, number or any cell' : 'ID or #row',
    text: asked.search,
    fields: { columns: fieldsOf(asked, campaign.rules.list).columns },
  };
  return html`<div class="tools">
    ${searchForm(form)} ${waitingMenu(campaign, asked, waiting)} ${columnsMenu(request, campaign, asked)}
    <span class="end soft small">
      ${everywhere && !request.numbersShown(campaign.campaignId) ? 'Numbers are masked. Showing them is noted in the log.' : null}
    </span>
  </div>`;
}

function waitingMenu(campaign: Campaign, query: PeopleQuery, groups: readonly WaitingGroup[]): HtmlValue {
  if (groups.length === 0 && query.waiting === '') return null;
  const entry = (rule: string, words: string, small: string | null): Html =>
    html`<a href="${peoplePath(campaign, query, { waiting: rule, state: '', outcome: '', search: '' })}"
      >${icon(rule === query.waiting ? 'check' : 'right')} <span>${words}</span>${small === null ? null : html`<small>${small}</small>`}</a
    >`;
  return html`<details class="menu" id="waiting-for">
    <summary class="btn">${icon('filter')} Waiting for: ${query.waiting === '' ? 'anything' : waitingText(query.waiting)}</summary>
    <div class="pop left">
      ${query.waiting === '' ? null : entry('', 'Anything', null)}
      ${groups.map(({ rule, rows }) => entry(rule, capital(waitingText(rule)), plural(rows, 'person', 'people')))}
    </div>
  </details>`;
}

function columnsMenu(request: ViewRequest, campaign: Campaign, query: PeopleQuery): HtmlValue {
  const offered = columnsOf(request, campaign.rules.list);
  if (query.search !== '' || (offered.length === 0 && query.sort.by === 'row')) return null;
  return html`<details class="menu" id="columns">
    <summary class="btn">${icon('list')} Columns</summary>
    <div class="pop left tall-pop">
      ${
        query.sort.by === 'row'
          ? null
          : html`<a href="${peoplePath(campaign, query, { sort: { by: 'row' } })}"
              >${icon('sort')} <span>In the order of the list</span></a
            >`
      }
      ${offered.map(({ place, column }) => {
        const isShown = query.columns.includes(place);
        const columns = isShown ? query.columns.filter((each) => each !== place) : [...query.columns, place];
        return html`<a href="${peoplePath(campaign, query, { columns })}"
          >${isShown ? icon('check') : html`<span></span>`}
          <span>${printable(column)}</span>${html`<small>${isShown ? 'Shown: hide it' : 'Show it'}</small>`}</a
        >`;
      })}
    </div>
  </details>`;
}
