import { hasEnded } from '../../../rules/lifecycle.ts';
import { empty, link, linkButton, outcome, scrolled, type OutcomeTone } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { campaignsWithOutcome } from '../../../ledger/aggregates.ts';
import { readCampaignBrief, type CampaignBrief, readLastActs, type LastActs } from '../../../ledger/read/campaign-view.ts';
import { listCampaigns, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { notYetKnown } from '../../../presentation/words/why.ts';
import { campaignRow, draftRow } from '../campaign/listed.ts';
import { noCampaigns } from '../campaign/none-yet.ts';
import { exampleLine, withQuery } from '../core/links.ts';
import { chip, chips, pager, searchForm } from '../core/tools.ts';
import { readCampaignParts } from '../../../operations/control/read-cache.ts';
import { isStill, readWhys } from '../../../operations/control/why.ts';
import { readDrafts } from '../core/drafts.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const pageSize = 25;
/** Hours open without an event. */
const againMs = 15_000;
/** While the reasons are still being read. */
const soonMs = 1_000;
const whyWithinMs = 150;

const shows = ['all', 'going', 'needs', 'ended'] as const;
type Show = (typeof shows)[number];
const words: Readonly<Record<Show, string>> = { all: 'All', going: 'Active', needs: 'Needs a person', ended: 'Ended' };

interface Page {
  show: Show;
  search: string;
  number: number;
  counts: Readonly<Record<Show, number>>;
  pages: number;
  /** With the last actor of paused and ended ones. */
  briefs: readonly (CampaignBrief & { acts: LastActs })[];
}

export async function campaignsView(request: ViewRequest): Promise<View> {
  const query = {
    show: shows.find((each) => each === (request.sent?.get('show') ?? request.query('show'))),
    search: (request.sent?.get('search') ?? '').trim().slice(0, 200),
    number: Math.max(1, Math.trunc(Number(request.query('page'))) || 1),
  };
  const key = `${query.show ?? ''} ${query.number} ${query.search}`;
  const drafts = await readDrafts(request);
  const page = withDrafts(await request.cache.read(`campaigns ${key}`, () => readPage(request, query)), drafts.length);
  const campaigns = page.briefs.map(({ campaign }) => campaign);
  const { context, clock } = request;
  const whys = await request.cache.readWithin(whyWithinMs, `whys ${key}`, () =>
    readWhys(
      context,
      campaigns.filter((campaign) => !isStill(campaign)),
      clock,
    ),
  );
  const still = await readWhys(context, campaigns.filter(isStill), clock);
  const listed: Parameters<typeof campaignRow>[1][] = [];
  for (const brief of page.briefs) {
    const { campaign } = brief;
    const why = still.get(campaign.campaignId) ?? whys?.get(campaign.campaignId) ?? notYetKnown(campaign);
    // All forecasts of a page at once would delay a user who opens a campaign.
    const parts = await readCampaignParts(context, hasEnded(campaign) ? [] : ['forecast'], { campaign, now: request.now });
    listed.push({ ...brief, why, ...parts });
  }
  const isReading = whys === null || listed.some(({ campaign, forecast }) => forecast === undefined && !hasEnded(campaign));
  const rowsOfCampaigns = listed.map((each) => campaignRow(request, each));
  const isShown = page.number === 1 && ['all', 'going'].includes(page.show);
  const found = isShown ? drafts.filter(({ name, id }) => `${name}\n${id}`.toLowerCase().includes(page.search.toLowerCase())) : [];
  const lines = [...found.map((draft) => draftRow(draft, context.now())), ...rowsOfCampaigns];
  const hasNone = page.counts.all === drafts.length;
  return {
    title: 'Campaigns',
    section: 'campaigns',
    // A search is not refreshed.
    ...(request.sent === null ? { follows: 'all', againMs: isReading ? soonMs : againMs } : {}),
    ...(may(request, 'operate') && page.counts.all > 0 ? { actions: linkButton('/new', 'New campaign', 'primary', 'plus') } : {}),
    body: page.counts.all === 0 ? noCampaigns(request) : [tools(page), list(page, lines), hasNone ? exampleLine(request) : null],
  };
}

function withDrafts(page: Page, drafts: number): Page {
  const { all, going } = page.counts;
  return { ...page, counts: { ...page.counts, all: all + drafts, going: going + drafts } };
}

async function readPage({ context, now }: ViewRequest, query: { show: Show | undefined; number: number; search: string }): Promise<Page> {
  const { db } = context.store;
  const all = (await listCampaigns(db)).toReversed();
  const needy = await readNeedy(context.store.db, all, now);
  const first = (campaigns: Campaign[]): Campaign[] =>
    campaigns.toSorted((a, b) => Number(needy.has(b.campaignId)) - Number(needy.has(a.campaignId)));
  const of: Readonly<Record<Show, Campaign[]>> = {
    all: first(all),
    going: first(all.filter((campaign) => !hasEnded(campaign))),
    needs: all.filter(({ campaignId }) => needy.has(campaignId)),
    ended: all.filter((campaign) => hasEnded(campaign)),
  };
  // If there are many, ended ones are behind a filter.
  const show = query.show ?? (query.search === '' && all.length > pageSize && of.going.length > 0 ? 'going' : 'all');
  const searchText = query.search.toLowerCase();
  const found = of[show].filter(({ campaignId, name }) => `${campaignId}\n${name ?? ''}`.toLowerCase().includes(searchText));
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const number = Math.min(query.number, pages);
  const briefs: (CampaignBrief & { acts: LastActs })[] = [];
  for (const campaign of found.slice((number - 1) * pageSize, number * pageSize)) {
    const { campaignId } = campaign;
    const brief = needy.get(campaignId) ?? (await readCampaignBrief(db, campaign, now));
    const acts = isStill(campaign) ? await readLastActs(db, campaignId) : { changed: null, acted: null };
    briefs.push({ ...brief, acts });
  }
  const counts = { all: of.all.length, going: of.going.length, needs: of.needs.length, ended: of.ended.length };
  return { show, search: query.search, number, counts, pages, briefs };
}

async function readNeedy(
  db: ViewRequest['context']['store']['db'],
  all: readonly Campaign[],
  now: number,
): Promise<ReadonlyMap<string, CampaignBrief>> {
  const undecided = await campaignsWithOutcome(db, 'unresolved');
  const needy = new Map<string, CampaignBrief>();
  for (const campaign of all) {
    if (hasEnded(campaign) && campaign.state !== 'failed' && !undecided.has(campaign.campaignId)) continue;
    const brief = await readCampaignBrief(db, campaign, now);
    if (brief.needs.length > 0) needy.set(campaign.campaignId, brief);
  }
  return needy;
}

function tools({ show, counts, search }: Page): Html {
  const shown = shows.map((each) => {
    const drawing = each === 'needs' ? icon('person') : null;
    return chip(`/?show=${each}`, [drawing, ' ', words[each]], counts[each], each === show && search === '');
  });
  const label = 'Search campaigns by name or ID';
  const form = { id: 'campaigns', path: '/', label, placeholder: 'Name or ID', text: search, fields: { show: 'all' }, isLast: true };
  return html`<div class="tools">${chips('Which campaigns', shown)} ${searchForm(form)}</div>`;
}

const legend: readonly (readonly [OutcomeTone, string])[] = [
  ['reached', 'Reached'],
  ['unreached', 'Not reached'],
  ['optout', 'Opted out'],
  ['decide', 'Needs a decision'],
  ['stopped', 'Cancelled or out of time'],
  ['calling', 'Calling'],
  ['waiting', 'Waiting'],
  ['cannot', 'Cannot be called'],
];

function list(page: Page, lines: readonly Html[]): Html {
  if (lines.length === 0)
    return html`<div class="panel pad-all">${page.search === '' ? empty('No campaign of this kind', link('/?show=all', 'All campaigns')) : empty('No campaign matches', link('/', 'Clear the search'))}</div>`; // prettier-ignore
  return html`<section class="panel" aria-labelledby="list-title">
    <h2 class="hidden" id="list-title">${words[page.show]}</h2>
    ${scrolled('Campaigns, those that need a person first', {
      kind: 'cards tall campaigns',
      by: 'list-title',
      heads: [
        'Campaign',
        'Now',
        'People done',
        html`<th scope="col" class="r">Answered</th>`,
        html`<th scope="col" class="r">Lines</th>`,
        'Ends',
        html`<th scope="col" class="r"><span class="hidden">Needs a person</span></th>`,
      ],
      lines,
    })}
    <footer>
      <ul class="legend small soft" aria-label="Colours of the progress bars">
        ${legend.map(([tone, text]) => html`<li>${outcome(tone, text)}</li>`)}
      </ul>
      ${
        page.pages > 1 && page.search !== ''
          ? html`<span>The first ${pageSize} that match</span>`
          : pager(
              ({ page: number = '' }) => withQuery('/', { show: page.show, page: number }),
              [page.number > 1 && ['Newer', { page: page.number - 1 }], page.number < page.pages && ['Older', { page: page.number + 1 }]],
              page.pages > 1 ? { says: `Page ${page.number} of ${page.pages}` } : {},
            )
      }
    </footer>
  </section>`;
}
