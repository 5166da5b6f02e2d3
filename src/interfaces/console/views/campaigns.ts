import { setImmediate } from 'node:timers/promises';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { count, empty, link, panel, table, withInstants, type Row } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readCampaignBrief, type CampaignBrief } from '../../../ledger/read/campaign-view.ts';
import { listCampaigns, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { printable } from '../../../shared/input/printable.ts';
import { notYetKnown, whyText } from '../../../presentation/words/why.ts';
import { endEntries, readForecast, type ConsoleForecast } from '../campaign/forecast.ts';
import { progressBar } from '../campaign/state.ts';
import { stateBadge } from '../core/rows.ts';
import { campaignPath } from '../core/links.ts';
import { waitFor } from '../../../operations/control/read-cache.ts';
import { isStill, readWhys } from '../../../operations/control/why.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const pageSize = 25;
/** Openings pass without an event. */
const againMs = 15_000;
/** Where it is still being read why nobody is called. */
const soonMs = 1_000;
const whyWithinMs = 150;
const forecastWithinMs = 50;

const shows = ['going', 'ended', 'all'] as const;
type Show = (typeof shows)[number];
const words: Readonly<Record<Show, string>> = { going: 'Going on', ended: 'Ended', all: 'All' };

/** What is shown of all campaigns: those of one kind, and of these a page. */
interface Page {
  show: Show;
  /** From 1. */
  number: number;
  counts: Readonly<Record<Show, number>>;
  pages: number;
  briefs: readonly CampaignBrief[];
}

/** What lies before the campaigns of a page, by their ids. */
type Outlooks = ReadonlyMap<string, ConsoleForecast>;

/** All campaigns: how each stands, how far it is, what it waits for, and whether a person has to do something. */
export async function campaignsView(request: ViewRequest): Promise<View> {
  const show = shows.find((each) => each === request.query('show'));
  const number = Math.max(1, Math.trunc(Number(request.query('page'))) || 1);
  const page = await request.cache.read(`campaigns ${show ?? ''} ${number}`, () => readPage(request, { show, number }));
  const rows = page.briefs.reduce((sum, { campaign }) => sum + (hasEnded(campaign) ? 0 : campaign.rowsTotal), 0);
  const campaigns = page.briefs.map(({ campaign }) => campaign);
  const { context, clock } = request;
  const whys = await request.cache.readWithin(whyWithinMs, `whys ${page.show} ${page.number}`, () =>
    readWhys(
      context,
      campaigns.filter((campaign) => !isStill(campaign)),
      clock,
    ),
  );
  const still = await readWhys(context, campaigns.filter(isStill), clock);
  const whyOf = ({ campaign }: CampaignBrief): string => {
    const why = still.get(campaign.campaignId) ?? whys?.get(campaign.campaignId) ?? notYetKnown(campaign);
    return whyText(why, { clock, now: context.now() }) ?? '–';
  };
  const forecasts = await request.cache.readWithin(waitFor(rows, forecastWithinMs), `forecasts ${page.show} ${page.number}`, () =>
    readOutlooks(request, page),
  );
  return {
    title: 'Campaigns',
    section: 'campaigns',
    follows: 'all',
    againMs: whys === null || forecasts === null ? soonMs : againMs,
    body: [
      page.counts.all > 0 ? chips(page) : null,
      panel(
        'Campaigns',
        [
          table(
            'Campaigns, the newest first',
            page.briefs.map((brief) => rowOf(brief, { why: whyOf(brief), forecast: forecasts?.get(brief.campaign.campaignId) ?? null })),
            nothing(page, request),
          ),
          pageLinks(page),
        ],
        may(request, 'operate') ? link('/new', 'New campaign') : null,
      ),
    ],
  };
}

async function readPage({ context, now }: ViewRequest, asked: { show: Show | undefined; number: number }): Promise<Page> {
  const { db } = context.store;
  const all = (await listCampaigns(db)).toReversed();
  const of: Readonly<Record<Show, Campaign[]>> = {
    going: all.filter((campaign) => !hasEnded(campaign)),
    ended: all.filter((campaign) => hasEnded(campaign)),
    all,
  };
  // Where there are many, those that have ended are a click away.
  const show = asked.show ?? (all.length > pageSize && of.going.length > 0 ? 'going' : 'all');
  const pages = Math.max(1, Math.ceil(of[show].length / pageSize));
  const number = Math.min(asked.number, pages);
  const briefs: CampaignBrief[] = [];
  for (const campaign of of[show].slice((number - 1) * pageSize, number * pageSize))
    briefs.push(await readCampaignBrief(db, campaign, now));
  const counts = { going: of.going.length, ended: of.ended.length, all: all.length };
  return { show, number, counts, pages, briefs };
}

/** It takes long where many rows wait: nothing else waits for it. */
async function readOutlooks(request: ViewRequest, { briefs }: Page): Promise<Outlooks> {
  const found = new Map<string, ConsoleForecast>();
  for (const { campaign, status } of briefs) {
    if (hasEnded(campaign)) continue;
    found.set(campaign.campaignId, await readForecast(request, campaign, status));
    await setImmediate();
  }
  return found;
}

function chips({ show, counts }: Page): Html {
  return html`<nav aria-label="Which campaigns">
    <p class="chips">
      ${shows.map(
        (each) =>
          html`<a href="/?show=${each}" ${each === show ? html`aria-current="page"` : null}
            >${words[each]} (${counts[each].toLocaleString('en')})</a
          > `,
      )}
    </p>
  </nav>`;
}

function pageLinks({ show, number, pages }: Page): Html {
  const to = (page: number, text: string): Html => link(`/?show=${show}&page=${page}`, text);
  return html`<p class="pages">
    ${number > 1 ? to(number - 1, 'Newer') : null} ${number < pages ? to(number + 1, 'Older') : null}
    ${pages > 1 ? html`<span class="soft">Page ${number} of ${pages}</span>` : null}
  </p>`;
}

function nothing({ counts }: Page, request: ViewRequest): Html {
  if (counts.all > 0) return empty('No campaign of this kind', link('/?show=all', 'All campaigns'));
  return empty(
    'There is no campaign yet',
    may(request, 'operate')
      ? html`${link('/new', 'Make one')} from a list, or start one with <code>carillon start campaign.yaml</code>.`
      : 'The role operate can create one here, or with carillon start.',
  );
}

function rowOf({ campaign, status, needs }: CampaignBrief, { why, forecast }: { why: string; forecast: ConsoleForecast | null }): Row {
  const { campaignId, name, state } = campaign;
  const cells: Record<string, HtmlValue> = {
    Campaign: html`<div class="named">
      ${link(campaignPath(campaignId), campaignId)} ${name === null ? null : html`<span class="soft">${printable(name)}</span>`}
    </div>`,
    State: stateBadge(state),
    Rows: progressBar(status, forecast),
    'Why nobody is called': withInstants(why),
    'Needs a person': needs.length === 0 ? '–' : link(campaignPath(campaignId, '#needs'), count(needs.length, 'thing')),
    Ends: hasEnded(campaign)
      ? '–'
      : html`<dl class="ends">
          ${endEntries(campaign, forecast).map(
            ([name, value]) =>
              html`<dt>${name}</dt>
                <dd>${value}</dd>`,
          )}
        </dl>`,
  };
  return { key: `campaign-${campaignId}`, cells };
}
