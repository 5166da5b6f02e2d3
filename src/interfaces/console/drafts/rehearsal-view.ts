import { z } from 'zod';
import { draftName, draftPath } from '../core/drafts.ts';
import { callsAmong } from '../../../rules/disposition.ts';
import { facts, figure, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import { inCampaign } from '../core/rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { View } from '../core/view.ts';
import { editionOf, mostRehearsedRows, type Rehearsal } from './rehearsals.ts';
import type { OpenDraft } from './draft-types.ts';

const at = z
  .string()
  .transform((text) => Date.parse(text))
  .nullable();
const course = z.object({ endsAt: at, calls: z.number() });
const counts = z.record(z.string(), z.number());

const report = z.object({
  ok: z.boolean(),
  faults: z.array(z.string()),
  rows: z.object({ inList: z.number(), rehearsed: z.number() }),
  notes: z.array(z.string()),
  outcomes: counts,
  dispositions: counts,
  timeline: z.object({ firstCallAt: at, lastCallAt: at, endedAt: at }),
  forecast: z.object({ earliest: course, likely: course, slowest: course, rehearsed: course }).nullable(),
  verify: z.object({ ok: z.boolean() }),
  conduct: z.object({ ok: z.boolean() }),
});

export function rehearsalView(open: OpenDraft, rehearsal: Rehearsal | null): View {
  const { draft, fields } = open;
  const back = draftPath(draft.draftId);
  const none = html`<p>Nothing has been rehearsed. ${link(back, 'Back to the campaign')}</p>`;
  const ways = html`<div class="actions">${rehearseForm(open)} ${link(`${back}#part-name`, 'Back to check and start')}</div>`;
  const isOver = rehearsal !== null && rehearsal.ended !== null;
  return {
    title: 'Rehearsal',
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign'], [back, printable(draftName(fields, draft.list.name))]],
    ...onTheWay(rehearsal),
    body: [
      isOver && isOld(open, rehearsal) ? html`<p class="notice">The draft has been changed since. This was rehearsed before.</p>` : null,
      bodyOf(rehearsal, none, stopForm(open)),
      isOver ? ways : null,
    ],
  }; // prettier-ignore
}

export function campaignRehearsalView(campaign: Pick<Campaign, 'campaignId' | 'name'>, rehearsal: Rehearsal | null): View {
  return {
    title: `Rehearsal of ${campaign.campaignId}`,
    ...inCampaign(campaign),
    ...onTheWay(rehearsal),
    body: bodyOf(rehearsal, html`<p>It was not rehearsed on the page before it was started.</p>`),
  };
}

function onTheWay(rehearsal: Rehearsal | null): Pick<View, 'againMs'> {
  return rehearsal !== null && rehearsal.ended === null ? { againMs: 2_000 } : {};
}

function bodyOf(rehearsal: Rehearsal | null, none: Html, stop: Html | null = null): HtmlValue {
  if (rehearsal === null) return panel('Rehearsal', none);
  const { ended, line } = rehearsal;
  if (ended === null)
    return panel('Rehearsal', [
      html`<p class="why">It is being rehearsed. Nobody is called.</p>`,
      html`<p class="soft" id="rehearsal-line">${line === null ? 'Temporal, sandbox, database and worker begin …' : printable(line)}</p>`,
      stop,
    ]);
  const found = report.safeParse(ended);
  if (found.success) return reportPanels(found.data);
  return panel('No rehearsal', html`<p class="lines">${printableLines(typeof ended === 'string' ? ended : '')}</p>`);
}

function isOld(open: OpenDraft, rehearsal: Rehearsal): boolean {
  return rehearsal.of !== editionOf(open);
}

/** Result of the last rehearsal with a link; null: there was none. */
export function rehearsalLine(open: OpenDraft, rehearsal: Rehearsal | null): { what: string; more?: string; action: Html } | null {
  if (rehearsal === null) return null;
  const { ended } = rehearsal;
  const at = draftPath(open.draft.draftId, '/rehearsal');
  const action = (words: string) => html`<a class="btn sm" href="${at}">${words}</a>`;
  if (ended === null) return { what: 'It is being rehearsed', action: action('See how far it is') };
  const found = report.safeParse(ended);
  const what =
    !found.success ? 'The rehearsal has no report'
    : found.data.ok ? `Rehearsed with ${plural(found.data.rows.rehearsed, 'made-up person', 'made-up people')}: it went as it should`
    : 'The rehearsal did not go as it should'; // prettier-ignore
  return {
    what,
    more: isOld(open, rehearsal) ? 'You have changed something since.' : 'You have not changed anything since.',
    action: action('Report'),
  };
}

function rehearseForm({ draft }: OpenDraft): Html {
  return html`<form method="post" action="${draftPath(draft.draftId, '/rehearsal')}">
    <button class="btn" title="On a sandbox of its own, days in minutes, with at most ${mostRehearsedRows} rows under fictional numbers">
      ${icon('flask')} Rehearse it again
    </button>
  </form>`;
}

function stopForm({ draft }: OpenDraft): Html {
  return html`<form class="act" method="post" action="${draftPath(draft.draftId, '/rehearsal')}">
    <input type="hidden" name="stop" value="yes" />
    <p class="actions"><button class="btn danger">Stop the rehearsal</button></p>
  </form>`;
}

function reportPanels({ ok, faults, rows, notes, outcomes, dispositions, ...found }: z.output<typeof report>): HtmlValue {
  const { timeline, forecast, verify, conduct } = found;
  const kept = (isKept: boolean): string => (isKept ? 'every promise was kept' : 'promises were broken');
  return [
    panel('Rehearsal', [
      html`<p class="why">${ok ? 'The campaign went as it should.' : `Not as it should be: ${faults.map(printable).join('; ')}.`}</p>`,
      facts([
        ['Rows', `${count(rows.rehearsed)} of ${count(rows.inList)}`],
        ['First call', instant(timeline.firstCallAt, 'minute')],
        ['Last call', instant(timeline.lastCallAt, 'minute')],
        ['Ended', instant(timeline.endedAt, 'minute')],
        ['By the event log', kept(verify.ok)],
        ['By the service', kept(conduct.ok)],
      ]),
    ]),
    panel('What came of it', [countTable('Rows by outcome', outcomes), countTable('Calls by result', callsAmong(dispositions))]),
    forecast === null
      ? null
      : panel(
          'Forecast, and what happened',
          table(
            'Ends and calls, as forecast and as rehearsed',
            (['earliest', 'likely', 'slowest', 'rehearsed'] as const).map((name) => ({
              key: `rehearsal-${name}`,
              cells: {
                Course: name,
                Ends: instant(forecast[name].endsAt, 'minute'),
                Calls: figure(forecast[name].calls),
              },
            })),
          ),
        ),
    panel(
      'What a rehearsal is not',
      html`<ul class="points">
        ${['the people are drawn at random, so real shares of answered calls differ', ...notes].map(
          (note) => html`<li>${printable(`${note.slice(0, 1).toUpperCase()}${note.slice(1)}`)}.</li>`,
        )}
      </ul>`,
    ),
  ];
}

function countTable(caption: string, values: Readonly<Record<string, number>>): HtmlValue {
  return table(
    caption,
    Object.entries(values)
      .filter(([, value]) => value > 0)
      .map(([name, value]) => ({
        key: `rehearsed-${name}`,
        cells: { [caption]: name.replaceAll('_', ' '), Number: figure(value) },
      })),
  );
}
